"""Turns an atom or expression into a short key that is the same in every process and orders them."""

from __future__ import annotations

from hashlib import blake2b

from forwardbook.formula.atoms import Atom, Extreme, Floor, Symbol
from forwardbook.formula.expr import Expr
from forwardbook.formula.work import spend


def atom_key(atom: Atom) -> str:
    """The name of a symbol; of an opaque term a digest of its structure, since its text may be long."""
    match atom:
        case Symbol():
            return atom.name
        case Floor():
            return _digest("//", expression_key(atom.numerator), expression_key(atom.denominator))
        case Extreme():
            return _digest("max" if atom.largest else "min", *map(expression_key, atom.arguments))
    return f"~{atom.serial}"


def expression_key(value: Expr) -> str:
    """A digest of the terms in any order."""
    spend(8 + sum(4 + 4 * len(monomial.powers) for monomial in value.terms))
    terms = (
        f"{coefficient}:{sorted((atom.key, power) for atom, power in monomial.powers)}"
        for monomial, coefficient in value.terms.items()
    )
    return _digest(*sorted(terms))


def _digest(*parts: str) -> str:
    # "~" sorts after all letters: opaque terms come after symbols
    return "~" + blake2b("\n".join(parts).encode(), digest_size=12).hexdigest()

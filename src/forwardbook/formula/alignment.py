"""Turns values with rounded or extreme terms at several points into values free of them, and the terms apart.

Where a size became a number, `min({batch_size} * {seq_len}, {vocab_size})` stands as `min(6 * {batch_size},
{vocab_size})` at one point and `min(7 * ...)` at the next: different atoms, though one term in the size.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from forwardbook.formula.atoms import UNIT, Atom, Extreme, Floor, Symbol
from forwardbook.formula.expr import Expr

MAX_TERMS = 8  # more rounded terms than that at one point are not told apart by their shape

Fit = Callable[[Sequence[Expr]], "Expr | None"]


@dataclass(frozen=True)
class Aligned:
    """The values with a placeholder symbol for each varying term, and what each placeholder stands for."""

    values: tuple[Expr, ...]
    terms: Mapping[str, Expr]


def aligned(values: Sequence[Expr], fit: Fit) -> Aligned | None:
    """The varying terms of all values matched by shape and fitted part by part; None where that fails."""
    shared = set.intersection(*(set(_opaque(v)) for v in values))
    varying = [sorted((a for a in _opaque(v) if a not in shared), key=_shape) for v in values]
    shapes = {tuple(_shape(atom) for atom in atoms) for atoms in varying}
    count = len(varying[0])
    if not 0 < count <= MAX_TERMS or len(shapes) != 1 or len(set(next(iter(shapes)))) != count:
        return None
    terms: dict[str, Expr] = {}
    for rank in range(count):
        whole = _fitted([atoms[rank] for atoms in varying], fit)
        if whole is None:
            return None
        terms[f"aligned.{rank}"] = whole
    names = {atom: name for atoms in varying for atom, name in zip(atoms, terms, strict=True)}
    return Aligned(tuple(_renamed(v, names) for v in values), terms)


def _opaque(value: Expr) -> list[Atom]:
    return [atom for atom in value.atoms() if not isinstance(atom, Symbol)]


def _renamed(value: Expr, names: Mapping[Atom, str]) -> Expr:
    parts = []
    for monomial, coefficient in value.terms.items():
        part = Expr.term(coefficient, UNIT)
        for atom, power in monomial.powers:
            part = part * (Expr.symbol(names[atom]) if atom in names else Expr.atom(atom)) ** power
        parts.append(part)
    return Expr.sum(parts)


def _fitted(atoms: Sequence[Atom], fit: Fit) -> Expr | None:
    """One term in the size from the term at each point."""
    first = atoms[0]
    if isinstance(first, Floor):
        floors = [a for a in atoms if isinstance(a, Floor)]
        above, below = fit([a.numerator for a in floors]), fit([a.denominator for a in floors])
        return above.floordiv(below) if above is not None and below is not None else None
    if not isinstance(first, Extreme):
        return None
    extremes = [a for a in atoms if isinstance(a, Extreme)]
    columns = zip(*(sorted(a.arguments, key=_outline) for a in extremes), strict=True)
    arguments = [fit(column) for column in columns]
    if any(a is None for a in arguments):
        return None
    found = [a for a in arguments if a is not None]
    return Expr.maximum(*found) if first.largest else Expr.minimum(*found)


def _shape(atom: Atom) -> str:
    """What an atom looks like without its numbers."""
    match atom:
        case Floor():
            return f"({_outline(atom.numerator)})//({_outline(atom.denominator)})"
        case Extreme():
            kind = "max" if atom.largest else "min"
            return f"{kind}({','.join(sorted(map(_outline, atom.arguments)))})"
    return atom.key


def _outline(value: Expr) -> str:
    """The monomials of an expression without their coefficients, the same in every process."""
    terms = (
        "*".join(sorted(f"{_shape(atom)}^{power}" for atom, power in monomial.powers))
        for monomial in value.terms
    )
    return "+".join(sorted(terms))

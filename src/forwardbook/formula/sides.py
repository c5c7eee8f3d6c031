"""Formulas in; out their rounded divisions, minima and maxima, and which value or winner each has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from forwardbook.errors import FormulaError
from forwardbook.formula.atoms import Atom, Extreme, Floor, Symbol, parts_of
from forwardbook.formula.expr import Expr

Opaque: TypeAlias = Floor | Extreme
Side: TypeAlias = tuple[int, ...]
"""The arguments that win, by their places; or what a division gives, and whether it leaves nothing."""


def opaque(formulas: Iterable[Expr]) -> list[Opaque]:
    """Every rounded division, minimum and maximum, those inside others included, each once."""
    found: dict[Opaque, None] = {}
    waiting = [atom for formula in formulas for atom in formula.atoms()]
    while waiting:
        atom = waiting.pop()
        if isinstance(atom, Floor | Extreme) and atom not in found:
            found[atom] = None
            waiting += [inner for part in parts_of(atom) for inner in part.atoms()]
    return [*found]


def names_of(atom: Opaque) -> frozenset[str]:
    """The names on which its value depends."""
    return frozenset().union(*(part.symbols() for part in parts_of(atom)))


def text_of(atom: Opaque) -> str:
    """The atom as formulas write it."""
    return Expr.atom(atom).text()


def side(atom: Opaque, values: Mapping[str, int]) -> Side | None:
    """The side of an atom at these sizes; None where it has no value."""
    try:
        if isinstance(atom, Floor):
            above, below = atom.numerator.evaluate(values), atom.denominator.evaluate(values)
            return (above // below, int(above % below == 0)) if below else None
        each = [part.evaluate(values) for part in atom.arguments]
    except FormulaError:
        return None
    best = max(each) if atom.largest else min(each)
    return tuple(place for place, value in enumerate(each) if value == best)


def unturned(atom: Opaque, sides: Iterable[Side | None]) -> str:
    """What of an atom no point shows: an argument that wins alone, or a second value; empty if nothing."""
    seen = {one for one in sides if one is not None}
    if isinstance(atom, Floor):
        return "" if len({value for value, _ in seen}) > 1 else "it has one value"
    alone = {one[0] for one in seen if len(one) == 1}
    missing = [part.text() for place, part in enumerate(atom.arguments) if place not in alone]
    return f"{missing[0]} never decides it" if missing else ""


def degree(formula: Expr, name: str) -> int:
    """The highest power of a name, those inside rounded divisions, minima and maxima included."""
    return max(
        (sum(power * _degree(a, name) for a, power in m.powers if power > 0) for m in formula.terms),
        default=0,
    )


def _degree(atom: Atom, name: str) -> int:
    if isinstance(atom, Symbol):
        return int(atom.name == name)
    if isinstance(atom, Floor | Extreme):
        return max(degree(part, name) for part in parts_of(atom))
    return 0


def together(formulas: Iterable[Expr]) -> Iterator[frozenset[Opaque]]:
    """The atoms that are multiplied with each other, or stand inside one another: two or more each."""
    waiting, seen = list(formulas), set[Opaque]()
    while waiting:
        for monomial in waiting.pop().terms:
            atoms = [atom for atom, _ in monomial.powers if isinstance(atom, Floor | Extreme)]
            if len(atoms) > 1:
                yield frozenset(atoms)
            for atom in atoms:
                if atom not in seen:
                    seen.add(atom)
                    waiting += parts_of(atom)
                    inner = [one for part in parts_of(atom) for one in part.atoms()]
                    yield from (frozenset((atom, o)) for o in inner if isinstance(o, Floor | Extreme))

"""Conditions in; out those that do not follow from what others say of a length.

A length that code computes (a floor, a ceiling, a maximum) is said to be at least so much by some conditions,
and most of the others hold for any such length: `heads * L != heads` wherever L is above 1. Each length with
a bound becomes a size of its own, innermost first; what then is true of all sizes follows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from forwardbook.formula import Condition, Expr, FormulaError
from forwardbook.formula.atoms import Atom, Extreme, Floor, Symbol
from forwardbook.formula.bounds import linear_parts
from forwardbook.formula.substitution import Replacing

TERMS = 12  # of a comparison: proofs about longer ones take long and mostly come to nothing
DEPTH = 2  # of the roundings nested in it: what follows from bounds does so once inner lengths have names
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


@dataclass
class _Said:
    """What conditions say of one atom alone: `low` is its lower bound, or that of its negative."""

    sign: int
    low: int | None = None
    by: list[int] = field(default_factory=list)
    not_at: dict[int, int] = field(default_factory=dict)

    def add(self, place: int, op: str, coefficient: int, rest: int) -> None:
        """Condition number `place` says `coefficient * atom + rest op 0`."""
        if coefficient * self.sign < 0:
            coefficient, rest, op = -coefficient, -rest, _MIRRORED[op]
        above, factor = -rest, abs(coefficient)
        if op == "!=" and above % factor == 0:
            self.not_at[above // factor] = place
        if op not in (">", ">="):
            return
        low = above // factor + 1 if op == ">" else -(-above // factor)
        if self.low is None or low > self.low:
            self.low, self.by = low, [place]

    def settle(self) -> None:
        """Raise the bound by those that exclude the number at it."""
        while self.low is not None and self.low in self.not_at:
            self.by.append(self.not_at[self.low])
            self.low += 1


def not_implied(conditions: Sequence[Condition], lowest: int = 1) -> list[Condition]:
    """The conditions without those that follow from what others say of a length, all sizes from `lowest` on.

    Every one that is left out holds wherever those that stay do.
    """
    chosen = _not_implied(tuple(dict.fromkeys(conditions)), lowest)
    return [condition for condition in conditions if condition in chosen]


@lru_cache(maxsize=1 << 8)
def _not_implied(conditions: tuple[Condition, ...], lowest: int) -> frozenset[Condition]:
    names = frozenset[str]().union(*(c.symbols() for c in conditions))
    moved: dict[str, int | Expr] = {name: Expr.symbol(name) + (lowest - 1) for name in sorted(names)}
    rest = {place: _moved(condition, moved) for place, condition in enumerate(conditions)}
    dropped = {place for place, c in rest.items() if c is not None and _always(c)}
    open_ = {place: c for place, c in rest.items() if c is not None and place not in dropped}
    named = 0
    while open_:
        found = _innermost(_bounded(open_))
        if not found:
            break
        fresh: dict[Atom, Expr] = {}
        for atom, said in found.items():
            assert said.low is not None
            fresh[atom] = (Expr.atom(_length(named)) + (said.low - 1)) * said.sign
            named += 1
        for place in {place for said in found.values() for place in said.by}:
            del open_[place]  # it is what says so: it stays
        replacing = Replacing(fresh)
        for place, condition in list(open_.items()):
            said_now = _replaced(condition, replacing)
            if said_now is None:
                del open_[place]
            elif said_now is not condition:
                open_[place] = said_now
                if _always(said_now):
                    dropped.add(place)
                    del open_[place]
    return frozenset(c for place, c in enumerate(conditions) if place not in dropped)


def _always(condition: Condition) -> bool:
    """Whether it is proved for all sizes from 1 on."""
    return is_simple(condition.left - condition.right, TERMS, DEPTH) and condition.is_trivially_true()


def is_simple(value: Expr, terms: int, depth: int) -> bool:
    """Whether a value is a sum of so many terms at most, with roundings nested so deep at most."""
    return len(value.terms) <= terms and all(atom.depth <= depth for atom in value.atoms())


def _moved(condition: Condition, moved: Mapping[str, int | Expr]) -> Condition | None:
    try:
        return condition.subs(moved)
    except FormulaError:
        return None


def _replaced(condition: Condition, replacing: Replacing) -> Condition | None:
    """The condition about the lengths that are named now; itself if none occurs in it."""
    try:
        left, right = replacing.of(condition.left), replacing.of(condition.right)
    except FormulaError:
        return None
    same = left is condition.left and right is condition.right
    return condition if same else Condition(left, condition.op, right)


def _bounded(conditions: Mapping[int, Condition]) -> dict[Atom, _Said]:
    """The lengths that have a lower bound, or whose negatives have."""
    said: dict[Atom, tuple[_Said, _Said]] = {}
    for place, condition in conditions.items():
        difference = condition.left - condition.right
        lengths = [atom for atom in difference.atoms() if not isinstance(atom, Symbol)]
        if len(lengths) != 1:
            continue
        parts = linear_parts(difference, lengths[0])
        if parts is None or not all(part.is_const and part.is_whole for part in parts):
            continue
        rest, coefficient = (part.const_value() for part in parts)
        for one in said.setdefault(lengths[0], (_Said(1), _Said(-1))):
            one.add(place, condition.op, coefficient, rest)
    found: dict[Atom, _Said] = {}
    for atom, (up, down) in said.items():
        for one in (down, up):  # what is bounded from both sides is a length from below
            one.settle()
            if one.low is not None:
                found[atom] = one
    return found


def _innermost(found: Mapping[Atom, _Said]) -> dict[Atom, _Said]:
    """Those within which no other of them occurs."""
    return {atom: said for atom, said in found.items() if not any(a in found for a in _within(atom))}


def _within(atom: Atom) -> Iterable[Atom]:
    parts: Sequence[Expr] = ()
    if isinstance(atom, Floor):
        parts = (atom.numerator, atom.denominator)
    elif isinstance(atom, Extreme):
        parts = atom.arguments
    for part in parts:
        for inner in part.atoms():
            yield inner
            yield from _within(inner)


@lru_cache(maxsize=1 << 10)
def _length(place: int) -> Symbol:
    # a name with a leading dot cannot be written, so it stands for nothing else
    return Symbol(f".length{place}")

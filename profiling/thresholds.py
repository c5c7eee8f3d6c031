"""Formulas in; out sizes below, at and above each threshold of their rounded divisions, minima and maxima.

What is zero, or decides nothing, at all small sizes may matter at larger ones.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from forwardbook.errors import FormulaError
from forwardbook.formula import Condition, Expr
from forwardbook.formula.atoms import Floor, Symbol, parts_of
from forwardbook.formula.sides import Opaque, Side, names_of, opaque, side, text_of, together
from forwardbook.profiling.proof import UNEQUAL
from forwardbook.profiling.sizes import draw

LARGEST: Final = 1 << 36
"""Sizes are looked for up to this: what matters beyond it is refused."""
WIDEST: Final = 64  # bytes of one element
STEP: Final = 1.07  # from one size that is looked at to the next
PER_SCAN: Final = 6  # turns along one size, the smallest first
NEAR: Final = 64  # how far from a turn the next size that meets all conditions is looked for
MIXED: Final = 240  # points at which several sizes are at their turns
PAIRS: Final = 8  # arguments of one extreme that are compared each with each

Point = dict[str, int]


def _ladder(largest: int) -> list[int]:
    found, at = [1], 1
    while at < largest:
        at = max(at + 1, int(at * STEP))
        found.append(min(at, largest))
    return found


_SIZES: Final = _ladder(LARGEST)
_WIDTHS: Final = _ladder(WIDEST)


class Thresholds:
    """The atoms of formulas, and points on all of their sides, as far as conditions allow."""

    def __init__(
        self,
        formulas: Sequence[Expr],
        hints: Mapping[str, int],
        conditions: Sequence[Condition],
        held: frozenset[str],
        rng: random.Random,
    ) -> None:
        self.atoms: Final = opaque(formulas)
        self.groups: Final = list(dict.fromkeys(together(formulas)))
        self.still: Final[dict[Opaque, set[str]]] = {}
        """The sizes along which no turn of an atom was found, though it has them."""
        self._hints, self._conditions, self._rng = hints, conditions, rng
        self._free = (frozenset(hints) | frozenset(UNEQUAL)) - held

    def signature(self, values: Mapping[str, int]) -> frozenset[tuple[object, ...]]:
        """What is seen of all atoms at these sizes: the side of each, and of those that stand together."""
        sides = {atom: _coarse(atom, side(atom, values)) for atom in self.atoms}
        seen: list[tuple[object, ...]] = [(atom, one) for atom, one in sides.items() if one is not None]
        for group in self.groups:
            each = tuple(sorted((self.atoms.index(atom), sides[atom]) for atom in group if sides[atom]))
            if len(each) == len(group):
                seen.append((group, each))
        return frozenset(seen)

    def pool(self, bases: Sequence[Mapping[str, int]]) -> list[Point]:
        """Points about all turns, cheap ones first; `bases` are points that were measured."""
        found: dict[tuple[tuple[str, int], ...], Point] = {}
        turns: dict[str, dict[int, None]] = {name: {} for name in self._free}
        for atom in self.atoms:
            for name in sorted(names_of(atom) & self._free):
                scanned = [(base, [*_turns(atom, name, base)]) for base in bases]
                if not any(some for _, some in scanned) and _matters(atom, name):
                    self.still.setdefault(atom, set()).add(name)
                for base, some in scanned:
                    turns[name] |= dict.fromkeys(some)
                    for at in {near for turn in some for near in (turn - 1, turn, turn + 1)}:
                        for point in self._at(base, {name: at}):
                            found[tuple(sorted(point.items()))] = point
        moved = [name for name, some in turns.items() if some]
        for _ in range(MIXED if len(moved) > 1 else 0):
            base = self._rng.choice(bases)
            few = self._rng.sample(moved, self._rng.randint(2, min(len(moved), 4)))
            chosen = {name: self._rng.choice([*turns[name]]) + self._rng.randint(-1, 1) for name in few}
            for point in self._at(base, chosen):
                found[tuple(sorted(point.items()))] = point
        return sorted(found.values(), key=_cost)

    def _at(self, base: Mapping[str, int], chosen: Mapping[str, int]) -> Iterator[Point]:
        """The base with these sizes, or the next that meet all conditions."""
        chosen = {n: max(1, min(v, WIDEST if n in UNEQUAL else LARGEST)) for n, v in chosen.items()}
        point = {**base, **chosen}
        if self._fits(point):
            yield point
            return
        done = False
        if len(chosen) == 1:
            [(name, at)] = chosen.items()
            for away in (range(at, at + NEAR), range(at, max(0, at - NEAR), -1)):
                moved = next((v for v in away if self._fits({**base, name: v})), None)
                if moved is not None:
                    done = True
                    yield {**base, name: moved}
        if not done:
            fixed = {n: v for n, v in chosen.items() if n in self._hints}
            drawn = draw(self._hints, self._conditions, self._rng, fixed, attempts=4)
            if drawn is not None and self._fits(point := {**base, **chosen, **drawn}):
                yield point

    def _fits(self, point: Mapping[str, int]) -> bool:
        return all(c.is_met(point) for c in self._conditions)


def _cost(point: Mapping[str, int]) -> tuple[float, int]:
    product = 1.0
    for name, value in point.items():
        product *= max(value, 1) if name not in UNEQUAL else 1
    return product, sum(point.values())


def _coarse(atom: Opaque, one: Side | None) -> Side | None:
    """The side; of a division without the size of its quotient beyond the first two."""
    if one is None or not isinstance(atom, Floor):
        return one
    return max(-1, min(one[0], 2)), one[1]


def _turns(atom: Opaque, name: str, base: Mapping[str, int]) -> Iterator[int]:
    """Sizes of one name from which on an atom has another side, all others as in the base."""
    rungs = _WIDTHS if name in UNEQUAL else _SIZES
    values = dict(base)

    def at(size: int) -> Side | None:
        values[name] = size
        return side(atom, values)

    looked = sorted({*rungs, *_critical(atom, name, base, rungs[-1])})
    sides = [at(size) for size in looked]
    found = 0
    for low, high, before, after in zip(looked, looked[1:], sides, sides[1:], strict=False):
        if before == after:
            continue
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if at(middle) == before else (low, middle)
        yield high
        found += 1
        if found >= PER_SCAN:
            return


def _critical(atom: Opaque, name: str, base: Mapping[str, int], most: int) -> set[int]:
    """Where what an atom compares is zero, or turns back, along one name; as far as it is a polynomial."""
    each = parts_of(atom)[:PAIRS]
    compared = [*each, *(a - b for a, b in itertools.combinations(each, 2))]
    found: set[int] = set()
    for expression in compared:
        for root in _roots(_coefficients(expression, name, base), most):
            found |= {r for r in (root - 1, root, root + 1, root + 2) if 1 <= r <= most}
    return found


def _coefficients(expression: Expr, name: str, base: Mapping[str, int]) -> list[int]:
    """The whole coefficients by power; none where something opaque has the name."""
    try:
        only = expression.subs({n: v for n, v in base.items() if n != name})
        only = only.fraction()[0]
    except FormulaError:
        return []
    found: dict[int, int] = {}
    for monomial, coefficient in only.terms.items():
        if any(not isinstance(atom, Symbol) or atom.name != name for atom, _ in monomial.powers):
            return []
        found[monomial.degree] = int(coefficient)
    return [found.get(power, 0) for power in range(max(found, default=0) + 1)]


def _roots(coefficients: Sequence[int], most: int) -> list[int]:
    """The sizes at or below roots of a polynomial and of its derivatives, by halving between these."""
    if len(coefficients) < 2 or len(coefficients) > 12:
        return []
    turning = _roots([power * c for power, c in enumerate(coefficients)][1:], most)

    def value(size: int) -> int:
        total = 0
        for coefficient in reversed(coefficients):
            total = total * size + coefficient
        return total

    found = set(turning)
    places = sorted({1, most, *turning, *(min(t + 1, most) for t in turning)})
    for low, high in itertools.pairwise(places):
        first = value(low) > 0
        if first == (value(high) > 0):
            continue
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if (value(middle) > 0) == first else (low, middle)
        found.add(low)
    return sorted(found)


def _matters(atom: Opaque, name: str) -> bool:
    """Whether a name is more than a factor of all that an atom compares: a factor decides nothing."""
    own = Expr.symbol(name)
    each = parts_of(atom)
    while all(name in part.symbols() for part in each):
        divided = [part.exact_div(own) for part in each]
        if not all(part.is_whole for part in divided):
            return True
        each = tuple(divided)
    return any(name in part.symbols() for part in each)


def said_of(atoms: Iterable[Opaque]) -> str:
    """Atoms as a sentence names them, short ones first."""
    return " and ".join(sorted(map(text_of, atoms), key=len)[:3])

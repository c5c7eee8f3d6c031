"""Turns a difference of expressions into a proof that it is never negative, or into no answer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import comb

from forwardbook.formula import atoms
from forwardbook.formula.atoms import Atom, Extreme, Floor, Monomial, Symbol
from forwardbook.formula.expr import ONE, Expr
from forwardbook.formula.limits import MAX_PROOF_WORK, MAX_SIMPLIFYING_WORK
from forwardbook.formula.terms import Terms
from forwardbook.formula.trials import may_reach, value_at
from forwardbook.formula.work import remembered, spend

_STEPS = 4  # of the algebra for each term that a proof looks at


@remembered(1 << 14)
def at_least(left: Expr, right: Expr, sizes: tuple[Expr, ...] = ()) -> bool:
    """Whether left >= right is proved for all symbols >= 1 at which all `sizes` are >= 1 as well."""
    return _Proof(1, frozenset(), MAX_PROOF_WORK).holds(_in_sizes(left - right, sizes))


@remembered(1 << 14)
def is_never_negative(value: Expr, nonzero: Expr = ONE) -> bool:
    """Whether value >= 0 is proved for all symbols >= 0, those dividing or in the term `nonzero` >= 1."""
    [first, *others] = nonzero.terms
    dividing = frozenset[Atom]() if others else frozenset(atom for atom, _ in first.powers)
    return _Proof(0, dividing, MAX_SIMPLIFYING_WORK).holds(value)


def dominant(candidates: Sequence[Expr], sizes: Sequence[Expr] = ()) -> list[Expr]:
    """The candidates in order, without every one that another provably is at least.

    The proofs hold for all symbols >= 1 at which all `sizes`, such as dimensions of a tensor that are rounded
    quotients, are >= 1 as well.
    """
    kept = list(dict.fromkeys(candidates))
    names = sorted(frozenset[str]().union(*(value.symbols() for value in kept)))
    seen = {value: [value_at(value, point) for point in _points(names)] for value in kept}
    for value in list(kept):
        for other in kept:
            hopeless = other is value or (not sizes and not may_reach(seen[other], seen[value]))
            if not hopeless and at_least(other, value, tuple(sizes)):
                kept.remove(value)
                break
    return kept


def _in_sizes(value: Expr, sizes: Sequence[Expr]) -> Expr:
    """The value with one opaque atom of each size eliminated in favour of the size itself, a symbol >= 1."""
    for place, size in enumerate(sizes):
        for atom in size.atoms():
            parts = linear_parts(size, atom)
            if not isinstance(atom, Symbol) and parts is not None and parts[1] == ONE:
                # a name with a leading dot cannot be written, so it stands for nothing else
                value = _with(value, atom, Expr.atom(_size_symbol(place)) - parts[0])
                break
    return value


@lru_cache(maxsize=1 << 8)
def _size_symbol(place: int) -> Symbol:
    return Symbol(f".size{place}")


def _with(value: Expr, atom: Atom, replacement: Expr) -> Expr:
    """The value with an atom of non-negative exponents replaced."""
    parts = []
    for monomial, coefficient in value.terms.items():
        power = monomial.exponent(atom)
        if power < 0:
            return value
        rest = Expr.term(coefficient, atoms.multiply(monomial, atoms.monomial(((atom, -power),))))
        parts.append(rest * replacement**power)
    return Expr.sum(parts)


def _points(names: Sequence[str]) -> list[dict[str, int]]:
    """Assignments at which a false claim usually fails: all equal, and each symbol far from the others."""
    points = [dict.fromkeys(names, size) for size in (1, 2, 1000)]
    for name in names:
        points.append(dict.fromkeys(names, 1) | {name: 1_000_000})
        points.append(dict.fromkeys(names, 1_000_000) | {name: 1})
    return points


class _Proof:
    """One question: sub-goals share a budget, so that a proof ends; running out of it proves nothing."""

    def __init__(self, lowest: int, nonzero: frozenset[Atom], work: int) -> None:
        self._lowest = lowest
        self._nonzero = nonzero
        self._work = work
        self._signs: dict[Atom, bool] = {}

    def holds(self, value: Expr) -> bool:
        """Whether value >= 0 is proved."""
        if not value:
            return True
        if value.is_const:
            return min(value.terms.values()) >= 0
        if not self._can_spend(10 + len(value.terms)):
            return False
        numerator, denominator = value.fraction()
        if denominator != ONE:
            return self._holds_divided(numerator, denominator)
        positive = all(coefficient > 0 for coefficient in value.terms.values())
        if not positive and self._fails_somewhere(value):
            return False  # what is false somewhere has no proof: none is looked for
        if self._holds_by_signs(value, positive):
            return True
        return any(
            self._holds_bounding(value, atom) for atom in value.atoms() if not isinstance(atom, Symbol)
        )

    def _holds_divided(self, numerator: Expr, denominator: Expr) -> bool:
        [monomial] = denominator.terms
        divisors = frozenset(atom for atom, _ in monomial.powers)
        if not all(self._is_positive(atom) for atom in divisors):
            return False
        before, self._nonzero = self._nonzero, self._nonzero | divisors
        try:
            return self.holds(numerator)
        finally:
            self._nonzero = before

    def _holds_by_signs(self, value: Expr, positive: bool) -> bool:
        """Whether all coefficients are >= 0 with each atom written as its lower bound plus an unknown."""
        if positive:
            return all(self._is_positive(atom) for atom in value.atoms())
        terms = dict(value.terms)
        for atom in value.atoms():
            if not self._is_positive(atom):
                return False
            if isinstance(atom, Symbol) and (self._lowest or atom in self._nonzero):
                terms = _raised(terms, atom)
                if not self._can_spend(len(terms)):
                    return False
        return all(coefficient >= 0 for coefficient in terms.values())

    def _can_spend(self, work: int) -> bool:
        spend(_STEPS * work)
        self._work -= work
        return self._work >= 0

    def _fails_somewhere(self, value: Expr) -> bool:
        if self._lowest == 0:
            return False
        points = _points(sorted(value.symbols()))
        return any((found := value_at(value, point)) is not None and found < 0 for point in points)

    def _is_positive(self, atom: Atom) -> bool:
        """Whether the atom is proved to be >= 0."""
        if isinstance(atom, Symbol):
            return True
        known = self._signs.get(atom)
        if known is None:
            self._signs[atom] = False  # while it is being asked
            known = self._signs[atom] = self._prove_positive(atom)
        return known

    def _prove_positive(self, atom: Atom) -> bool:
        if isinstance(atom, Floor):
            return self.holds(atom.numerator) and self.holds(atom.denominator)
        if isinstance(atom, Extreme):
            return (any if atom.largest else all)(self.holds(argument) for argument in atom.arguments)
        return False

    def _holds_bounding(self, value: Expr, atom: Atom) -> bool:
        """Whether the claim holds with the atom, if linear, replaced by its bound on the weaker side."""
        parts = linear_parts(value, atom)
        if parts is None:
            return False
        rest, factor = parts
        rises, falls = self._has_sign(factor, 1), self._has_sign(factor, -1)
        if not rises and not falls:
            return False
        if isinstance(atom, Extreme):
            some = atom.largest == rises
            return (any if some else all)(self.holds(rest + factor * argument) for argument in atom.arguments)
        if not isinstance(atom, Floor) or not self._has_sign(atom.denominator, 1):
            return False
        above, below = atom.numerator, atom.denominator
        products = len(rest.terms) * len(below.terms) + len(factor.terms) * (
            len(above.terms) + len(below.terms)
        )
        if not self._can_spend(products):
            return False
        # n - d + 1 <= d * floor(n / d) <= n for every d > 0
        return self.holds(rest * below + factor * ((above - below + 1) if rises else above))

    def _has_sign(self, value: Expr, sign: int) -> bool:
        return all(c * sign > 0 for c in value.terms.values()) and all(map(self._is_positive, value.atoms()))


def linear_parts(value: Expr, atom: Atom) -> tuple[Expr, Expr] | None:
    """The rest and the factor with value = rest + factor * atom; None when the atom has another power."""
    rest: Terms = {}
    factor: Terms = {}
    once = atoms.monomial(((atom, -1),))
    for monomial, coefficient in value.terms.items():
        power = monomial.exponent(atom)
        if power not in (0, 1):
            return None
        if power:
            factor[atoms.multiply(monomial, once)] = coefficient
        else:
            rest[monomial] = coefficient
    return Expr(rest), Expr(factor)


def _raised(terms: Terms, atom: Atom) -> Terms:
    """The polynomial in which the atom is replaced by the atom plus one."""
    total: Terms = {}
    for monomial, coefficient in terms.items():
        power = monomial.exponent(atom)
        without = [(own, exponent) for own, exponent in monomial.powers if own is not atom]
        for taken in range(power + 1):
            place: Monomial = atoms.monomial([*without, (atom, taken)]) if power else monomial
            total[place] = total.get(place, 0) + coefficient * comb(power, taken)
    return total

"""Turns names and integers into exact, canonical expressions, closed under arithmetic and rounding."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import TYPE_CHECKING, TypeAlias

from forwardbook.errors import FormulaError
from forwardbook.formula import atoms
from forwardbook.formula.atoms import UNIT, Atom, Monomial
from forwardbook.formula.limits import MAX_COEFFICIENT, MAX_DIGITS, MAX_EXPONENT
from forwardbook.formula.terms import Coefficient, Terms, accumulate, product, reduced

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    from forwardbook.formula.printing import Piece

Known: TypeAlias = dict[Atom, int]
"""The rounded quotients and extremes already found at one assignment: nested ones share them."""
Program: TypeAlias = Callable[[Mapping[str, int], Known], int]
"""Values of symbols, and of atoms known at them already, in; the exact value of an expression out."""


class Expr:
    """An immutable polynomial over integer atoms, with rational coefficients and exponents of either sign.

    A fraction or a negative exponent states a division without remainder, under a condition kept elsewhere.
    Two expressions are equal when they are the same polynomial.
    """

    __slots__ = ("__weakref__", "_fraction", "_hash", "_program", "_symbols", "_terms", "printed")

    def __init__(self, terms: Terms) -> None:
        """Wraps canonical terms: no zero, integers as `int`; other rooms use the constructors below."""
        self._terms = terms
        self._hash: int | None = None
        self._symbols: frozenset[str] | None = None
        self.printed: Piece | None = None
        self._fraction: tuple[Expr, Expr] | None = None
        self._program: Program | None = None

    @staticmethod
    def symbol(name: str) -> Expr:
        """The named integer >= 0."""
        return Expr.atom(atoms.symbol(name))

    @staticmethod
    def const(value: int) -> Expr:
        """The constant."""
        if not -MAX_COEFFICIENT < value < MAX_COEFFICIENT:
            raise FormulaError(f"a constant has more than {MAX_DIGITS} digits")
        return ZERO if value == 0 else Expr({UNIT: int(value)})

    @staticmethod
    def of(value: Expr | int) -> Expr:
        """The expression itself, or the integer as a constant."""
        return value if isinstance(value, Expr) else Expr.const(value)

    @staticmethod
    def atom(atom: Atom) -> Expr:
        """The polynomial that is one atom."""
        return Expr({atoms.monomial(((atom, 1),)): 1})

    @staticmethod
    def term(coefficient: Coefficient, monomial: Monomial) -> Expr:
        """The polynomial of one term."""
        return Expr({monomial: reduced(coefficient)}) if coefficient else ZERO

    @staticmethod
    def sum(parts: Iterable[Expr | int]) -> Expr:
        """The sum of all parts, in one pass."""
        total: Terms = {}
        for part in parts:
            accumulate(total, Expr.of(part)._terms)
        return Expr(total)

    @property
    def terms(self) -> Mapping[Monomial, Coefficient]:
        """Coefficients by monomial; not to be changed."""
        return self._terms

    @property
    def is_const(self) -> bool:
        """Whether no atom occurs."""
        return not self._terms or (len(self._terms) == 1 and UNIT in self._terms)

    @property
    def is_whole(self) -> bool:
        """Whether no coefficient is a fraction and no exponent negative, so that all values are integers."""
        return all(type(c) is int and m.is_whole for m, c in self._terms.items())

    def const_value(self) -> int:
        """The constant as an integer; FormulaError when a symbol occurs or it is a fraction."""
        value = self._terms.get(UNIT, 0)
        if not self.is_const or type(value) is not int:
            from forwardbook.formula.printing import brief

            raise FormulaError(f"a constant integer was expected, found {brief(self)}")
        return value

    def symbols(self) -> frozenset[str]:
        """The names on which the value depends, inside opaque terms included."""
        if self._symbols is None:
            found: set[str] = set()
            for atom in self.atoms():
                if isinstance(atom, atoms.Symbol):
                    found.add(atom.name)
                elif isinstance(atom, atoms.Floor):
                    found |= atom.numerator.symbols() | atom.denominator.symbols()
                elif isinstance(atom, atoms.Extreme):
                    found.update(*(argument.symbols() for argument in atom.arguments))
            self._symbols = frozenset(found)
        return self._symbols

    def atoms(self) -> list[Atom]:
        """The distinct atoms of the terms, those inside opaque terms left out."""
        return list(dict.fromkeys(atom for m in self._terms for atom, _ in m.powers))

    def monomials(self) -> Iterator[tuple[Fraction, dict[str, int]]]:
        """Each term as its coefficient and its exponents by the atom's text."""
        for monomial, coefficient in self._terms.items():
            yield Fraction(coefficient), {str(Expr.atom(atom)): power for atom, power in monomial.powers}

    def fraction(self) -> tuple[Expr, Expr]:
        """Numerator and denominator, both whole; the denominator is the smallest term that clears all."""
        if self._fraction is None:
            number = lcm(*(c.denominator for c in self._terms.values()))
            lowest: dict[Atom, int] = {}
            for monomial in self._terms:
                for atom, power in monomial.powers:
                    if power < lowest.get(atom, 0):
                        lowest[atom] = power
            below = Expr.term(number, atoms.monomial((atom, -power) for atom, power in lowest.items()))
            self._fraction = (self, ONE) if below == ONE else (self * below, below)
        return self._fraction

    def content(self) -> tuple[int, Monomial]:
        """The largest integer and monomial that divide every term of a whole expression; of zero, one."""
        if not self._terms:
            return 1, UNIT
        number = gcd(*(int(c) for c in self._terms.values()))
        first, *others = self._terms
        shared = dict(first.powers)
        for monomial in others:
            if not shared:
                break
            present = dict(monomial.powers)
            shared = {atom: min(power, present[atom]) for atom, power in shared.items() if atom in present}
        return number, atoms.monomial(shared.items())

    def __add__(self, other: Expr | int) -> Expr:
        terms = _terms_of(other)
        if terms is None:
            return NotImplemented
        larger, smaller = (self._terms, terms) if len(self._terms) >= len(terms) else (terms, self._terms)
        total = dict(larger)
        accumulate(total, smaller)
        return Expr(total)

    __radd__ = __add__

    def __neg__(self) -> Expr:
        return Expr({m: -c for m, c in self._terms.items()})

    def __pos__(self) -> Expr:
        return self

    def __sub__(self, other: Expr | int) -> Expr:
        if not isinstance(other, Expr | int):
            return NotImplemented
        return self + (-other)

    def __rsub__(self, other: int) -> Expr:
        return -self + other

    def __mul__(self, other: Expr | int) -> Expr:
        terms = _terms_of(other)
        if terms is None:
            return NotImplemented
        return Expr(product(self._terms, terms))

    __rmul__ = __mul__

    def __pow__(self, exponent: int) -> Expr:
        if not isinstance(exponent, int) or not 0 <= exponent <= MAX_EXPONENT:
            raise FormulaError(f"an exponent must be an integer from 0 to {MAX_EXPONENT}, found {exponent!r}")
        power = ONE
        for _ in range(exponent):
            power = power * self
        return power

    def __floordiv__(self, other: Expr | int) -> Expr:
        return self.floordiv(other) if isinstance(other, Expr | int) else NotImplemented

    def __rfloordiv__(self, other: int) -> Expr:
        return Expr.of(other).floordiv(self) if isinstance(other, int) else NotImplemented

    def __mod__(self, other: Expr | int) -> Expr:
        return self.mod(other) if isinstance(other, Expr | int) else NotImplemented

    def __rmod__(self, other: int) -> Expr:
        return Expr.of(other).mod(self) if isinstance(other, int) else NotImplemented

    def __bool__(self) -> bool:
        """False only for the polynomial that is identically zero."""
        return bool(self._terms)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if isinstance(other, Expr):
            return self._terms == other._terms
        if isinstance(other, int):
            return self.is_const and self._terms.get(UNIT, 0) == other
        return NotImplemented

    def __hash__(self) -> int:
        if self._hash is None:
            constant = self._terms.get(UNIT, 0)
            self._hash = hash(constant) if self.is_const else hash(frozenset(self._terms.items()))
        return self._hash

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, (tuple(self._terms.items()),)

    def exact_div(self, other: Expr | int) -> Expr:
        """The quotient of a division known to be exact; FormulaError when a sum does not divide."""
        from forwardbook.formula.division import exact_div

        return exact_div(self, Expr.of(other))

    def floordiv(self, other: Expr | int) -> Expr:
        """The quotient rounded towards minus infinity, simplified as far as the value stays the same."""
        from forwardbook.formula.division import floordiv

        return floordiv(self, Expr.of(other))

    def ceildiv(self, other: Expr | int) -> Expr:
        """The quotient rounded towards plus infinity."""
        return -(-self).floordiv(other)

    def mod(self, other: Expr | int) -> Expr:
        """The remainder of `floordiv`, as `self - other * (self // other)`, whose pieces cancel in sums."""
        return self - self.floordiv(other) * other

    def square_root(self) -> Expr | None:
        """The expression whose square this is, of either sign; None when there is none."""
        from forwardbook.formula.root import square_root

        return square_root(self)

    @staticmethod
    def minimum(*values: Expr | int) -> Expr:
        """The smallest of the values, without those that another never exceeds."""
        from forwardbook.formula.extremes import extreme

        return extreme(False, [Expr.of(value) for value in values])

    @staticmethod
    def maximum(*values: Expr | int) -> Expr:
        """The largest of the values, without those that never exceed another."""
        from forwardbook.formula.extremes import extreme

        return extreme(True, [Expr.of(value) for value in values])

    def subs(self, values: Mapping[str, Expr | int]) -> Expr:
        """The expression with symbols replaced, all at once."""
        from forwardbook.formula.substitution import substitute

        return substitute(self, {name: Expr.of(value) for name, value in values.items()})

    def evaluate(self, values: Mapping[str, int]) -> int:
        """The exact value; FormulaError when a symbol has no value or a division leaves a remainder."""
        return (self._program or self.program())(values, {})

    def program(self) -> Program:
        """What finds the value, made once."""
        if self._program is None:
            from forwardbook.formula.evaluation import program

            self._program = program(self)
        return self._program

    def evaluate_many(self, values: Mapping[str, NDArray[numpy.int64] | int]) -> NDArray[numpy.int64]:
        """The exact values over broadcast arrays: int64 where all surely fit, else Python integers."""
        from forwardbook.formula.vector import evaluate_many

        return evaluate_many(self, values)

    def at_least(self, other: Expr | int, sizes: Sequence[Expr] = ()) -> bool:
        """Whether self >= other is proved for all symbols >= 1 and `sizes` >= 1; False says nothing."""
        from forwardbook.formula.bounds import at_least

        return at_least(self, Expr.of(other), tuple(sizes))

    @staticmethod
    def interpolate(
        name: str, points: Mapping[int, Expr], max_degree: int = 3, held_out: int = 1
    ) -> Expr | None:
        """The polynomial in `name` of lowest degree through all points, so many held out; else None."""
        from forwardbook.formula.interpolation import interpolate

        return interpolate(name, points, max_degree, held_out)

    def text(self) -> str:
        """The formula language, common factors in front."""
        from forwardbook.formula.printing import expression_piece

        return expression_piece(self).text

    __str__ = text

    def __repr__(self) -> str:
        return f"Expr({self.text()!r})"


def _restored(items: Sequence[tuple[Monomial, Coefficient]]) -> Expr:
    return Expr(dict(items))


def _terms_of(value: object) -> Terms | None:
    if isinstance(value, Expr):
        return value._terms
    if isinstance(value, int):
        return {UNIT: int(value)} if value else {}
    return None


ZERO = Expr({})
ONE = Expr({UNIT: 1})

"""Turns two expressions into their exact quotient, or into their quotient rounded down, in canonical form."""

from __future__ import annotations

from functools import lru_cache
from math import gcd

from forwardbook.errors import FormulaError
from forwardbook.formula import atoms
from forwardbook.formula.atoms import UNIT, Floor, Monomial
from forwardbook.formula.bounds import is_never_negative
from forwardbook.formula.expr import ONE, ZERO, Expr
from forwardbook.formula.quotient import invert, polynomial_quotient


def exact_div(dividend: Expr, divisor: Expr) -> Expr:
    """The quotient as a polynomial; FormulaError for division by zero or by a sum that does not divide."""
    if not divisor:
        raise FormulaError(f"division by zero: ({_brief(dividend)}) by 0")
    if len(divisor.terms) == 1:
        return dividend * invert(divisor)
    quotient = polynomial_quotient(dividend, divisor)
    if quotient is None:
        raise FormulaError(
            f"({_brief(dividend)}) has no exact quotient by the sum ({_brief(divisor)}); use floordiv, "
            "or introduce a symbol for the quotient"
        )
    return quotient


@lru_cache(maxsize=1 << 14)
def floordiv(dividend: Expr, divisor: Expr) -> Expr:
    """The quotient rounded down: a polynomial when the divisor divides every term, else with one opaque atom."""
    if not divisor:
        raise FormulaError(f"division by zero: ({_brief(dividend)}) // 0")
    if divisor == ONE and dividend.is_whole:
        return dividend
    above, over = dividend.fraction()
    below, under = divisor.fraction()
    return _floor(above * under, below * over)


def _floor(above: Expr, below: Expr, settled: bool = False) -> Expr:
    """The quotient of whole expressions; `settled` when the sign of the numerator has been chosen."""
    above, below = _cancelled(above, below)
    if not above:
        return ZERO
    if below == ONE:
        return above
    if above.is_const and below.is_const:
        return Expr.const(above.const_value() // below.const_value())
    positive = is_never_negative(below)
    inner = _sole_floor(above)
    if inner is not None and positive:
        # floor(floor(a / b) / c) = floor(a / (b * c)) for every c > 0
        return _floor(inner.numerator, inner.denominator * below)
    if not settled and positive:
        whole, rest = _split(above, below, only_exact=True)
        if not rest:
            return whole
        if _leads_negative(rest, below):
            # floor(-n / d) = -ceil(n / d) = -floor((n + d - 1) / d) for every d > 0
            return whole - _floor(below - rest - 1, below, settled=True)
    whole, rest = _split(above, below, only_exact=False)
    if whole:
        return whole + _floor(rest, below, settled=True)
    if below == 2 and above.terms.get(UNIT) == 1:
        # floor((n + 1) / 2) = n - floor(n / 2), so that halves rounded either way meet in one form
        return above - 1 - _floor(above - 1, below, settled=True)
    if positive and _lies_within(above, below):
        return ZERO
    return Expr.atom(atoms.floor_atom(above, below))


def _cancelled(above: Expr, below: Expr) -> tuple[Expr, Expr]:
    """Both sides without common factors, the denominator's sum included when it divides the numerator."""
    number, shared = below.content()
    if len(below.terms) > 1:
        common = Expr.term(number, shared)
        primitive = below * invert(common)
        quotient = polynomial_quotient(above, primitive)
        if quotient is not None and quotient.is_whole:
            above, below = quotient, common
    if all(coefficient < 0 for coefficient in below.terms.values()):
        above, below = -above, -below
    if not above:
        return above, ONE
    own_number, own_shared = above.content()
    powers = ((atom, min(power, own_shared.exponent(atom))) for atom, power in shared.powers)
    common = Expr.term(gcd(number, own_number), atoms.monomial(powers))
    if common == ONE:
        return above, below
    inverse = invert(common)
    return above * inverse, below * inverse


def _sole_floor(above: Expr) -> Floor | None:
    if len(above.terms) != 1:
        return None
    [(monomial, coefficient)] = above.terms.items()
    if coefficient != 1 or len(monomial.powers) != 1:
        return None
    atom, power = monomial.powers[0]
    return atom if power == 1 and isinstance(atom, Floor) else None


def _split(above: Expr, below: Expr, only_exact: bool) -> tuple[Expr, Expr]:
    """A whole quotient q and a rest with above = below * q + rest; every value is kept for any non-zero divisor."""
    if len(below.terms) > 1:
        return _split_by_sum(above, below) if not only_exact else (ZERO, above)
    [(monomial, number)] = below.terms.items()
    inverse = atoms.raise_power(monomial, -1)
    whole: dict[Monomial, int] = {}
    rest: dict[Monomial, int] = {}
    for own, coefficient in above.terms.items():
        quotient, remainder = divmod(int(coefficient), int(number))
        lowered = atoms.multiply(own, inverse)
        if not lowered.is_whole or (only_exact and remainder):
            rest[own] = int(coefficient)
            continue
        if quotient:
            whole[lowered] = quotient
        if remainder:
            rest[own] = remainder
    return Expr(dict(whole)), Expr(dict(rest))


def _split_by_sum(above: Expr, below: Expr) -> tuple[Expr, Expr]:
    lead = max(below.terms, key=order)
    multiple = int(above.terms.get(lead, 0)) // int(below.terms[lead])
    if multiple:
        rest = above - below * multiple
        if len(rest.terms) < len(above.terms):
            return Expr.const(multiple), rest
    return ZERO, above


def order(monomial: Monomial) -> tuple[int, list[tuple[str, int]]]:
    """A key that orders monomials alike in every process, the constant first."""
    return monomial.degree, sorted((atom.key, power) for atom, power in monomial.powers)


def _leads_negative(rest: Expr, below: Expr) -> bool:
    """Whether the leading term rounds to a smaller multiple after a change of sign."""
    lead = max(rest.terms, key=order)
    coefficient = int(rest.terms[lead])
    if len(below.terms) == 1:
        [(monomial, number)] = below.terms.items()
        if atoms.multiply(lead, atoms.raise_power(monomial, -1)).is_whole:
            twice = 2 * (coefficient % int(number)) - int(number)
            return twice > 0 if twice else coefficient < 0
    return coefficient < 0


def _lies_within(above: Expr, below: Expr) -> bool:
    return is_never_negative(above, nonzero=below) and is_never_negative(below - above - 1, nonzero=below)


def _brief(value: Expr) -> str:
    text = value.text()
    return text if len(text) <= 200 else f"{text[:200]}..."

"""Turns two expressions into their exact quotient, or into their quotient rounded down, in canonical form."""

from __future__ import annotations

from math import gcd

from forwardbook.errors import FormulaError
from forwardbook.formula import atoms
from forwardbook.formula.atoms import UNIT, Floor, Monomial
from forwardbook.formula.bounds import is_never_negative
from forwardbook.formula.expr import ONE, ZERO, Expr
from forwardbook.formula.limits import MAX_MERGED_TERMS
from forwardbook.formula.printing import brief
from forwardbook.formula.quotient import polynomial_quotient, term_quotient
from forwardbook.formula.structure import expression_key
from forwardbook.formula.work import remembered, spend


def exact_div(dividend: Expr, divisor: Expr) -> Expr:
    """The quotient as a polynomial; FormulaError for division by zero or by a sum that does not divide."""
    if not divisor:
        raise FormulaError(f"division by zero: ({brief(dividend)}) by 0")
    if len(divisor.terms) == 1:
        return term_quotient(dividend, divisor)
    quotient = polynomial_quotient(dividend, divisor)
    if quotient is None:
        raise FormulaError(
            f"({brief(dividend)}) has no exact quotient by the sum ({brief(divisor)}); use floordiv, "
            "or introduce a symbol for the quotient"
        )
    return quotient


@remembered(1 << 14)
def floordiv(dividend: Expr, divisor: Expr) -> Expr:
    """The quotient rounded down: a polynomial when the divisor divides it, else with one opaque atom."""
    if not divisor:
        raise FormulaError(f"division by zero: ({brief(dividend)}) // 0")
    spend(60 + 12 * (len(dividend.terms) + len(divisor.terms)))
    if divisor == ONE and dividend.is_whole:
        return dividend
    above, over = dividend.fraction()
    below, under = divisor.fraction()
    return _floor(above * under, below * over)


def _floor(above: Expr, below: Expr, settled: bool = False) -> Expr:
    """The quotient of whole expressions; `settled` when the sign of the numerator has been chosen."""
    spend(60 + 12 * (len(above.terms) + len(below.terms)))
    given = below
    above, below = _without_fine_part(*_cancelled(above, below))
    settled = settled and below == given
    if not above:
        return ZERO
    if below == ONE:
        return above
    if above.is_const and below.is_const:
        return Expr.const(above.const_value() // below.const_value())
    positive = is_never_negative(below)
    inner = _sole_floor(above)
    if inner is not None and positive and len(inner.denominator.terms) * len(below.terms) <= MAX_MERGED_TERMS:
        # floor(floor(a / b) / c) = floor(a / (b * c)) for every c > 0
        return _floor(inner.numerator, inner.denominator * below)
    if len(below.terms) > 1:
        return _floor_by_sum(above, below, positive)
    if not settled and positive:
        whole, rest = _split(above, below, only_exact=True)
        if not rest:
            return whole
        if _leads_negative(rest, below):
            return whole - _floor(_mirrored(rest, below), below, settled=True)
    whole, rest = _split(above, below, only_exact=False)
    if whole:
        return whole + _floor(rest, below, settled=True)
    if below == 2 and above.terms.get(UNIT) == 1:
        # floor((n + 1) / 2) = n - floor(n / 2), so that halves rounded either way meet in one form
        return above - 1 - _floor(above - 1, below, settled=True)
    return _opaque(above, below, positive)


def _mirrored(above: Expr, below: Expr) -> Expr:
    """The m with floor(above / below) = -floor(m / below): rounding up adds d - 1 first, for every d > 0."""
    return below - above - 1


def _floor_by_sum(above: Expr, below: Expr, positive: bool) -> Expr:
    """The same for a sum, by the simplest of the numerators that differ by its multiples or by mirroring."""
    lead = max(below.terms, key=order)
    options: list[tuple[int, int, Expr]] = []
    for sign, numerator in [(1, above), (-1, _mirrored(above, below))] if positive else [(1, above)]:
        multiple = int(numerator.terms.get(lead, 0)) // int(below.terms[lead])
        options += [(sign, count, numerator - below * count) for count in (multiple, multiple + 1)]
    simplest = min(_complexity(numerator) for _, _, numerator in options)
    ties = [option for option in options if _complexity(option[2]) == simplest]
    sign, count, chosen = (
        ties[0] if len(ties) == 1 else min(ties, key=lambda option: expression_key(option[2]))
    )
    if chosen != above:
        return (_floor(chosen, below) + count) * sign
    return _opaque(above, below, positive)


def _complexity(value: Expr) -> tuple[int, bool]:
    lead = max(value.terms, key=order, default=UNIT)
    return len(value.terms), value.terms.get(lead, 0) < 0


def _opaque(above: Expr, below: Expr, positive: bool) -> Expr:
    """The atom, or zero where the numerator is known to lie between zero and the divisor."""
    if (
        positive
        and is_never_negative(above, nonzero=below)
        and is_never_negative(below - above - 1, nonzero=below)
    ):
        return ZERO
    return Expr.atom(atoms.floor_atom(above, below))


def _cancelled(above: Expr, below: Expr) -> tuple[Expr, Expr]:
    """Both sides without common factors, the denominator's sum included when it divides the numerator."""
    number, shared = below.content()
    if len(below.terms) > 1:
        common = Expr.term(number, shared)
        primitive = term_quotient(below, common)
        quotient = polynomial_quotient(above, primitive)
        if quotient is not None and quotient.is_whole:
            above, below = quotient, common
    if below.terms[max(below.terms, key=order)] < 0 and not is_never_negative(below):
        above, below = -above, -below
    if not above:
        return above, ONE
    own_number, own_shared = above.content()
    powers = ((atom, min(power, own_shared.exponent(atom))) for atom, power in shared.powers)
    common = Expr.term(gcd(number, own_number), atoms.monomial(powers))
    if common == ONE:
        return above, below
    return term_quotient(above, common), term_quotient(below, common)


def _without_fine_part(above: Expr, below: Expr) -> tuple[Expr, Expr]:
    """Both sides without a factor g that all but a constant r share: (g * n + r) // g = n + r // g."""
    constant = above.terms.get(UNIT, 0)
    if not constant or len(below.terms) > 1:
        return above, below
    [(monomial, size)] = below.terms.items()
    if len(above.terms) == 1:
        # r // (g * m) = (r // g) // m for every m > 0
        if int(size) == 1 or not is_never_negative(Expr.term(1, monomial)):
            return above, below
        return Expr.const(int(constant) // int(size)), Expr.term(1, monomial)
    number, shared = (above - int(constant)).content()
    number = gcd(number, int(size))
    powers = ((atom, min(power, shared.exponent(atom))) for atom, power in monomial.powers)
    # for a symbolic g >= 1 only floor(-1 / g) = -1 is known
    shared = atoms.monomial(powers) if constant == -1 and is_never_negative(Expr.term(1, monomial)) else UNIT
    common = Expr.term(number, shared)
    if common == ONE:
        return above, below
    above = term_quotient(above - int(constant), common) + int(constant) // number
    return above, term_quotient(below, common)


def _sole_floor(above: Expr) -> Floor | None:
    if len(above.terms) != 1:
        return None
    [(monomial, coefficient)] = above.terms.items()
    if coefficient != 1 or len(monomial.powers) != 1:
        return None
    atom, power = monomial.powers[0]
    return atom if power == 1 and isinstance(atom, Floor) else None


def _split(above: Expr, below: Expr, only_exact: bool) -> tuple[Expr, Expr]:
    """A whole quotient q and a rest with above = below * q + rest, for a divisor of one term."""
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


def order(monomial: Monomial) -> tuple[int, list[tuple[str, int]]]:
    """A key that orders monomials alike in every process, the constant first."""
    return monomial.degree, sorted((atom.key, power) for atom, power in monomial.powers)


def _leads_negative(rest: Expr, below: Expr) -> bool:
    """Whether the mirrored numerator has the smaller leading coefficient, multiples of the divisor apart."""
    [(monomial, number)] = below.terms.items()
    inverse = atoms.raise_power(monomial, -1)
    for own in sorted(rest.terms, key=order, reverse=True):
        coefficient = int(rest.terms[own])
        if own is UNIT and len(rest.terms) > 1:
            break
        if not atoms.multiply(own, inverse).is_whole:
            return coefficient < 0
        twice = 2 * (coefficient % int(number)) - int(number)
        if twice:
            return twice > 0
    return False

"""Turns several expressions into their minimum or maximum, in canonical form."""

from __future__ import annotations

from forwardbook.errors import FormulaError
from forwardbook.formula import atoms
from forwardbook.formula.atoms import Extreme
from forwardbook.formula.bounds import is_never_negative
from forwardbook.formula.expr import Expr
from forwardbook.formula.limits import MAX_ARGUMENTS, MAX_COMPARED_ARGUMENTS
from forwardbook.formula.trials import may_reach, tried
from forwardbook.formula.work import spend


def extreme(largest: bool, values: list[Expr]) -> Expr:
    """The largest or smallest value: nested ones flattened, constants folded, dominated ones dropped.

    An argument is dropped only where another dominates it for all symbols >= 0: a size may be zero.
    """
    name = "maximum" if largest else "minimum"
    if not values:
        raise FormulaError(f"the {name} of no values is undefined")
    flat = [argument for value in values for argument in arguments(largest, value)]
    constants = [value.const_value() for value in flat if value.is_const]
    distinct = list(dict.fromkeys(value for value in flat if not value.is_const))
    if constants:
        distinct.append(Expr.const(max(constants) if largest else min(constants)))
    if len(distinct) > MAX_ARGUMENTS:
        raise FormulaError(f"the {name} of {len(distinct)} values exceeds the limit of {MAX_ARGUMENTS}")
    spend(sum(20 + 4 * len(value.terms) for value in flat))
    if len(distinct) <= MAX_COMPARED_ARGUMENTS:
        distinct = _undominated(largest, distinct)
    if len(distinct) == 1:
        return distinct[0]
    return Expr.atom(atoms.extreme_atom(largest, distinct))


def arguments(largest: bool, value: Expr) -> tuple[Expr, ...]:
    """The arguments of an expression that is itself just such a maximum or minimum, else the expression."""
    if len(value.terms) == 1:
        [(monomial, coefficient)] = value.terms.items()
        if coefficient == 1 and len(monomial.powers) == 1:
            [(atom, power)] = monomial.powers
            if power == 1 and isinstance(atom, Extreme) and atom.largest == largest:
                return atom.arguments
    return (value,)


def _undominated(largest: bool, values: list[Expr]) -> list[Expr]:
    kept = list(values)
    seen = {value: tried(value) for value in values}
    for value in values:
        for other in kept:
            above, below = (other, value) if largest else (value, other)
            # what is false at one assignment has no proof: none is looked for
            hopeless = other is value or not may_reach(seen[above], seen[below])
            if not hopeless and is_never_negative(above - below):
                kept.remove(value)
                break
    return kept

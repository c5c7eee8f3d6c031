"""Turns two expressions and a comparison into a condition that sizes meet or not."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from forwardbook.errors import FormulaError
from forwardbook.formula.expr import Expr, Known

if TYPE_CHECKING:
    from forwardbook.formula.rational import Rational

COMPARISONS: Final[Mapping[str, Callable[[Rational, Rational], bool]]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
NEGATED: Final = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", "<=": ">", ">": "<="}
"""The comparison that is true where another is not."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A comparison of two expressions."""

    left: Expr
    op: str
    right: Expr
    _text: str = field(default="", init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.op not in COMPARISONS:
            raise FormulaError(f"{self.op!r} is no comparison; use one of {', '.join(COMPARISONS)}")
        object.__setattr__(self, "left", Expr.of(self.left))
        object.__setattr__(self, "right", Expr.of(self.right))

    @staticmethod
    def parse(text: str) -> Condition:
        """The condition written as two formulas with a comparison between them."""
        from forwardbook.formula.parsing import parse_comparison

        return Condition(*parse_comparison(text))

    @staticmethod
    def that_is(name: str, value: int) -> Condition:
        """The condition that a size is this number."""
        return Condition(Expr.symbol(name), "==", Expr.const(value))

    @staticmethod
    def at_least(name: str, value: int) -> Condition:
        """The condition that a size is this number or larger."""
        return Condition(Expr.symbol(name), ">=", Expr.const(value))

    @staticmethod
    def at_most(name: str, value: int) -> Condition:
        """The condition that a size is this number or smaller."""
        return Condition(Expr.symbol(name), "<=", Expr.const(value))

    def holds(self, values: Mapping[str, int], known: Known | None = None) -> bool:
        """Whether the comparison is true at these sizes; others at the same may share what is `known`."""
        known = {} if known is None else known
        left, right = self.left.program()(values, known), self.right.program()(values, known)
        return COMPARISONS[self.op](left, right)

    def is_met(self, values: Mapping[str, int], known: Known | None = None) -> bool:
        """Whether the comparison is true at these sizes; it is not where a division is inexact."""
        try:
            return self.holds(values, known)
        except FormulaError:
            return False

    def subs(self, values: Mapping[str, int | Expr]) -> Condition:
        """The comparison with numbers or expressions in place of names."""
        return Condition(self.left.subs(values), self.op, self.right.subs(values))

    def symbols(self) -> frozenset[str]:
        """The names on either side."""
        return self.left.symbols() | self.right.symbols()

    def is_trivially_true(self) -> bool:
        """Whether the comparison is proved for all symbols >= 1."""
        left, right = self.left, self.right
        match self.op:
            case "==":
                return left == right or (left.at_least(right) and right.at_least(left))
            case "!=":
                return left.at_least(right + 1) or right.at_least(left + 1)
            case "<":
                return right.at_least(left + 1)
            case "<=":
                return right.at_least(left)
            case ">":
                return left.at_least(right + 1)
        return left.at_least(right)

    def text(self) -> str:
        """The condition in the formula language; written once, as it is also what conditions are known by."""
        if not self._text:
            object.__setattr__(self, "_text", f"{self.left.text()} {self.op} {self.right.text()}")
        return self._text

    __str__ = text


def negated(condition: Condition) -> Condition:
    """The condition that holds where another does not."""
    return Condition(condition.left, NEGATED[condition.op], condition.right)


def excludes(one: Condition, other: Condition) -> bool:
    """Whether two conditions compare the same with numbers, and no value from 0 on meets both."""
    if one.left != other.left or not (one.right.is_const and other.right.is_const):
        return False
    numbers = {one.right.const_value() + shift for shift in (-1, 0, 1)}
    numbers |= {other.right.const_value() + shift for shift in (-1, 0, 1)}
    return not any(_meets(number, one) and _meets(number, other) for number in numbers if number >= 0)


def _meets(number: int, condition: Condition) -> bool:
    return COMPARISONS[condition.op](number, condition.right.const_value())

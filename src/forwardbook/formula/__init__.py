"""Turns sizes given by name into exact integer expressions, and those into text and back.

Symbols stand for integers >= 0. A rewriting that divides by an expression assumes that it is not zero; apart
from that every rewriting keeps the value at every point. Only `at_least`, `dominant` and
`Condition.is_trivially_true` speak of symbols >= 1.
"""

from forwardbook.errors import FormulaError
from forwardbook.formula.bounds import dominant
from forwardbook.formula.condition import Condition
from forwardbook.formula.expr import Expr
from forwardbook.formula.parsing import parse

__all__ = ["Condition", "Expr", "FormulaError", "dominant", "parse"]

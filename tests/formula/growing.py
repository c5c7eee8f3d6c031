"""Expressions grown at random, of which properties are asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hypothesis import strategies as st

from forwardbook.errors import FormulaError
from forwardbook.formula import Expr

TWO: tuple[Callable[[Expr, Expr], Expr], ...] = (
    Expr.__add__, Expr.__sub__, Expr.__mul__, Expr.floordiv, Expr.mod, Expr.ceildiv, Expr.exact_div,
    Expr.minimum, Expr.maximum,
)  # fmt: skip


def combined(parts: tuple[Callable[[Expr, Expr], Expr], Expr, Expr]) -> Expr:
    """The expression, or the first part of it where the algebra refuses the whole."""
    try:
        return parts[0](parts[1], parts[2])
    except FormulaError:
        return parts[1]


def expressions(names: Sequence[str], most: int) -> st.SearchStrategy[Expr]:
    """Expressions of these sizes and small constants, of so many parts at the most."""
    return st.recursive(
        st.one_of(st.sampled_from(names).map(Expr.symbol), st.integers(-4, 9).map(Expr.const)),
        lambda inner: st.tuples(st.sampled_from(TWO), inner, inner).map(combined),
        max_leaves=most,
    )

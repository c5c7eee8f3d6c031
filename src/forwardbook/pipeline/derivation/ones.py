"""Conditions in; out what they say of a size that is 1, where much is another path than above it."""

from __future__ import annotations

from collections.abc import Sequence

from forwardbook.formula import Condition, Expr


def is_above_one(test: Condition) -> bool:
    """Whether it says that a size is above 1, and nothing else."""
    return test.op == ">" and test.right == Expr.const(1) and len(test.symbols()) == 1


def excludes_one(test: Condition, said: Sequence[Condition]) -> bool:
    """Whether what is said of the one size of a test by itself, as that it is even, keeps it from being 1."""
    names = test.symbols()
    return len(names) == 1 and any(
        c.symbols() == names and not c.is_met(dict.fromkeys(names, 1)) for c in said
    )


def is_at_one(test: Condition, held: Sequence[Condition]) -> bool:
    """Whether a test is that a size is above 1 which is held at 1: there is nothing to try, or to say."""
    ones = {c.left for c in held if c.op == "==" and c.right == Expr.const(1)}
    return is_above_one(test) and test.left in ones

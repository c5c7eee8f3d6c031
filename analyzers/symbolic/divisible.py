"""What conditions say that sizes are: multiples of others, or one and the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from forwardbook.formula import Condition, Expr

QUOTIENT: Final = "quotient__"
"""Stands for x // m while an expression is rewritten; no size may be called so."""


def divisibility(conditions: Iterable[Condition]) -> list[tuple[str, Expr, Condition]]:
    """The pairs (x, m) of conditions that say: x is a multiple of m, m one product of other sizes."""
    found = []
    for condition in conditions:
        if condition.op != "==" or condition.right != Expr.const(0) or " % " not in condition.text():
            continue
        for name in sorted(condition.symbols()):
            divisor = _divisor(condition.left, name)
            if divisor is not None and name not in divisor.symbols():
                found.append((name, divisor, condition))
                break
    return found


def _divisor(left: Expr, name: str) -> Expr | None:
    """m where `left` is `name % m`."""
    size = Expr.symbol(name)
    candidates = [Expr.const(n) for n in (2, 3, 4, 8, 16)]
    candidates += [Expr.symbol(other) for other in sorted(left.symbols() - {name})]
    candidates += [Expr.symbol(other) * n for other in sorted(left.symbols() - {name}) for n in (2, 4)]
    return next((m for m in candidates if size.mod(m) == left), None)


def as_multiple(name: str, divisor: Expr) -> dict[str, int | Expr]:
    """The size written as its divisor times a quotient of its own."""
    return {name: divisor * Expr.symbol(f"{QUOTIENT}{name}")}


def told(conditions: Sequence[Condition]) -> dict[str, int | Expr]:
    """Sizes as conditions say that they are: a multiple of a number, or another size."""
    found: dict[str, int | Expr] = {}
    for name, divisor, _ in divisibility(conditions):
        if divisor.is_const:
            found.setdefault(name, as_multiple(name, divisor)[name])
    for one in conditions:
        same = [name for name in sorted(one.symbols()) if one.op == "==" and _is_one_of(name, one)]
        if len(same) == 2:
            kept, other = sorted(same, key=lambda name: name not in found)
            found[other] = found.get(kept, Expr.symbol(kept))
    return found


def _is_one_of(name: str, condition: Condition) -> bool:
    return Expr.symbol(name) in (condition.left, condition.right)

"""Flops and bytes as polynomials: what one layer does, and the operations that a line of source issued."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from forwardbook.formula import Expr, parse

VIEWS: Final = frozenset(
    (
        "aten._reshape_alias", "aten._unsafe_view", "aten.alias", "aten.as_strided", "aten.detach",
        "aten.diagonal", "aten.expand", "aten.permute", "aten.select", "aten.slice", "aten.split",
        "aten.split_with_sizes", "aten.squeeze", "aten.t", "aten.transpose", "aten.unbind", "aten.unfold",
        "aten.unsqueeze", "aten.view",
    )
)  # fmt: skip
"""Operations that give a tensor another shape and move nothing."""


@dataclass(frozen=True, slots=True)
class Work:
    """Flops, and the bytes that are read and written, of what runs as one."""

    flops: Expr
    moved: Expr

    def __add__(self, other: Work) -> Work:
        return Work(self.flops + other.flops, self.moved + other.moved)

    def __mul__(self, times: Expr | int) -> Work:
        return Work(self.flops * times, self.moved * times)

    def __bool__(self) -> bool:
        return bool(self.flops or self.moved)

    def subs(self, values: Mapping[str, Expr]) -> Work:
        """The same with symbols replaced."""
        return Work(self.flops.subs(values), self.moved.subs(values)) if values else self

    def symbols(self) -> frozenset[str]:
        """The names on which it depends."""
        return self.flops.symbols() | self.moved.symbols()


NOTHING: Final = Work(Expr.const(0), Expr.const(0))


def total(works: Iterable[Work]) -> Work:
    """All of it together."""
    found = list(works)
    return Work(Expr.sum(one.flops for one in found), Expr.sum(one.moved for one in found))


def grouped(works: Mapping[Work, int]) -> dict[Work, int]:
    """The same; what only moves bytes is one, as its times add up."""
    moved = Expr.sum(one.moved * times for one, times in works.items() if not one.flops)
    alone = Work(Expr.const(0), moved)
    return {one: times for one, times in works.items() if one.flops} | ({alone: 1} if alone else {})


@lru_cache(maxsize=1 << 14)
def polynomial(text: str) -> Expr:
    """A stored formula, whose `//` leaves no remainder.

    Raises:
        FormulaError: for one that is too long to be read.
    """
    return parse(text, exact=True)


def issued(operations: Iterable[str]) -> Counter[str]:
    """How often each operation that moves something was issued: `aten.mm x3` is three."""
    found: Counter[str] = Counter()
    for text in operations:
        name, _, times = text.partition(" x")
        if name not in VIEWS:
            found[name] += int(times or 1)
    return found

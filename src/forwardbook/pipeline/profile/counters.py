"""Counters of kernels and the products of a trace in; each counter as a padded product, or none, out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from forwardbook.profiling.kernel_analysis import AnalysedKernel
from forwardbook.profiling.tiles import AttentionTiles, Padding, explain, explain_attention, tile_of
from forwardbook.profiling.trace_work import WorkGroup

_PRODUCT = re.compile(r"(?P<m>\d+)x(?P<k>\d+) @ \d+x(?P<n>\d+)")
_ATTENTION = re.compile(
    r"(?P<b>\d+)x(?P<h>\d+) heads, (?P<q>\d+) on (?P<k>\d+), (?P<key>\d+)\+(?P<value>\d+)"
)

_FUSED = re.compile(r"flash|fmha|sdpa|attention", re.IGNORECASE)  # in names of kernels of attention


@dataclass(frozen=True)
class Unpadded:
    """A counter of multiply-adds that is the product itself: no tensor core, no tiles filled up."""

    formula: int

    @property
    def counter(self) -> int:
        """The same."""
        return self.formula

    @property
    def text(self) -> str:
        """The equation."""
        return f"{self.counter} of multiply-adds"


Explanation = Padding | AttentionTiles | Unpadded


@dataclass(frozen=True)
class CounterCheck:
    """One launch: what its counter says, and the product it is once tiles are filled up."""

    kernel: AnalysedKernel
    group: WorkGroup | None
    padding: Explanation | None

    @property
    def multiplies(self) -> bool:
        """Whether it is a kernel of products: tensor cores worked, or its name tells a tile."""
        return bool(self.kernel.work.tensor) or tile_of(self.kernel.launch.name) is not None

    @property
    def is_no_product(self) -> bool:
        """Whether it was counted, and is neither a product of the trace nor looks like one."""
        return self.kernel.work.flops is not None and self.padding is None and not self.multiplies

    @property
    def explained(self) -> bool:
        """Whether there is nothing to explain, or a product explains it."""
        return self.kernel.work.flops is None or self.padding is not None or self.is_no_product

    @property
    def text(self) -> str:
        """formula <= counter = padded(formula), or what is known."""
        label, work = self.kernel.label, self.kernel.work
        if work.flops is None:
            return f"counter {label}: not collected: {'; '.join(work.missing)}"
        if self.padding is None or self.group is None:
            tiles = self.kernel.tiles()
            shown = f"{work.multiplied:,} = {tiles}" if tiles else f"{work.multiplied:,}"
            return f"counter {label}: {shown}: no product of the trace explains it"
        product = f"{self.group.operator} {self.group.shape}"
        part = (self.padding.counter - self.padding.formula) / self.padding.formula
        more = f"{part:.1%} of padding" if part >= 0 else f"{-part:.1%} left out by a mask"
        sign = "<=" if part > 0 else ">" if part < 0 else "="
        return (
            f"counter {label}: formula {self.padding.formula:,} ({product}) {sign} "
            f"counter {self.padding.text}, {more}"
        )


def counter_lines(checks: Sequence[CounterCheck]) -> Iterator[str]:
    """Each kernel of products by itself, all others in one line."""
    others = [one for one in checks if one.is_no_product]
    yield from (one.text for one in checks if not one.is_no_product)
    if others:
        done = sum(one.kernel.work.flops or 0 for one in others)
        yield f"counters of {len(others)} other launches: {done:,} operations, no products"


def check_counters(
    kernels: Sequence[AnalysedKernel], groups: Sequence[WorkGroup], elsewhere: Sequence[WorkGroup] = ()
) -> tuple[CounterCheck, ...]:
    """Each launch beside the product that it ran: one of these, or else, where none is it, of elsewhere."""
    checks = (_checked(one, groups) for one in kernels)
    return tuple(one if one.padding else _checked(one.kernel, elsewhere) for one in checks)


def _checked(kernel: AnalysedKernel, groups: Sequence[WorkGroup]) -> CounterCheck:
    """The product with the least padding that explains the counter; of several, where that kernel ran."""
    found: list[tuple[bool, int, WorkGroup, Explanation]] = []
    for group in groups:
        padding = _explained(kernel, group)
        if padding is not None:
            is_other = kernel.launch.name not in group.kernels
            found.append((is_other, abs(padding.counter - padding.formula), group, padding))
    if not found:
        return CounterCheck(kernel, None, None)
    *_, group, padding = min(found, key=lambda one: one[:2])
    return CounterCheck(kernel, group, padding)


def _explained(kernel: AnalysedKernel, group: WorkGroup) -> Explanation | None:
    """What the tensor cores were counted to do, or all where they are not told apart."""
    work, grid, name = kernel.work, kernel.launch.grid, kernel.launch.name
    counter = work.multiplied
    if not counter or grid is None:
        return None
    if shape := _PRODUCT.fullmatch(group.shape):
        m, n, k = (int(shape[part]) for part in ("m", "n", "k"))
        if not work.tensor and 2 * m * n * k in work.fused.values():
            return Unpadded(2 * m * n * k)
        return explain(counter, grid, name, m, n, k)
    if work.tensor and _FUSED.search(name) and (shape := _ATTENTION.fullmatch(group.shape)):
        b, h, q, k, key, value = (int(shape[part]) for part in ("b", "h", "q", "k", "key", "value"))
        return explain_attention(counter, b * h, q, k, key + value, name)
    return None

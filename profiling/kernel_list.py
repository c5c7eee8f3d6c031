"""Kernels of a report in; the longest of them, with names and patterns for Nsight Compute, as YAML out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from forwardbook.profiling.readers.kernels import Dim3, KernelRow, Number, by_name

LIST_VERSION = 1


@dataclass(frozen=True)
class TopKernel:
    """A kernel over all its grids: its share of the time of all kernels, and patterns that match it alone."""

    row: KernelRow
    share: float | None
    grids: tuple[Dim3, ...]

    @property
    def regex(self) -> str:
        """A pattern that matches this name and no other: the mangled name where it is known."""
        return f"^{re.escape(self.row.mangled or self.row.name)}$"


def longest(rows: Sequence[KernelRow], count: int) -> list[TopKernel]:
    """The `count` kernels that took most time, summed over grids; kernels without a time come last."""
    summed = by_name(rows)
    known = [row.total_ns for row in summed if row.total_ns is not None]
    whole = sum(known)
    grids: dict[str, dict[Dim3, None]] = {}
    for row in rows:
        if row.grid is not None:
            grids.setdefault(row.name, {})[row.grid] = None
    return [
        TopKernel(
            row=row,
            share=row.total_ns / whole if row.total_ns is not None and whole else None,
            grids=tuple(grids.get(row.name, {})),
        )
        for row in summed[:count]
    ]


def compute_name(name: str) -> str:
    """A demangled name as Nsight Compute writes it: without namespaces and without types of constants.

    The two tools demangle differently; where mangled names are known they are to be preferred.
    """
    name = re.sub(r"\((?:bool|int|unsigned int|long|unsigned long|unsigned short|char)\)(?=-?\d)", "", name)
    return re.sub(r"(?<![\w>])(?:[A-Za-z_]\w*::|\(anonymous namespace\)::)+", "", name)


def as_yaml(kernels: Sequence[TopKernel], source: str, total_ns: Number | None) -> str:
    """The list as a file: whole names, and what `profile ncu --kernel` takes."""
    import yaml  # type: ignore[import-untyped]

    values = {
        "version": LIST_VERSION,
        "source": source,
        "kernels_total_ns": total_ns,
        "kernels": [_value(rank, one) for rank, one in enumerate(kernels, 1)],
    }
    return str(yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=100_000))


def _value(rank: int, one: TopKernel) -> dict[str, object]:
    row = one.row
    return {
        "rank": rank,
        "name": row.name,
        "mangled": row.mangled,
        "regex": one.regex,
        "base": "mangled" if row.mangled else "demangled",
        "ncu_name": None if row.mangled else compute_name(row.name),
        "total_ns": row.total_ns,
        "instances": row.instances,
        "avg_ns": row.avg_ns,
        "share": None if one.share is None else round(one.share, 6),
        "grids": [list(grid) for grid in one.grids],
    }

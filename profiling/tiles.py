"""A counter of tensor operations beside the product that ran; why the counter is larger, or that it is not.

Kernels work on whole tiles: a product of 1000 rows in tiles of 128 computes 1024. So a counter is never below
the formula, and equals the formula of the padded sizes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import ceil, prod

from forwardbook.profiling.readers.kernels import Dim3

_TILE = re.compile(
    r"(?:_|tilesize)(?P<m>\d{2,3})x(?P<n>\d{2,3})(?:x(?P<k>\d{1,3}))?(?!\d)"
    r"(?:_(?P<k2>\d{2,3})x\d)?"
)


@dataclass(frozen=True)
class Tile:
    """Rows and columns that a block of threads computes; `depth`: the step along the sum, if told."""

    rows: int
    columns: int
    depth: int | None = None


@dataclass(frozen=True)
class Padding:
    """A counter explained: blocks of tiles, and the padded product whose flops it equals."""

    blocks: int
    tile: Tile
    inner: int
    formula: int
    counter: int

    @property
    def text(self) -> str:
        """The equation."""
        rows, columns = self.tile.rows, self.tile.columns
        return f"{self.counter} = {self.blocks} * 2 * {rows} * {columns} * {self.inner}"


def tile_of(name: str) -> Tile | None:
    """The tile that the name of a kernel says (`..._128x256_...`, `tilesize64x256x8`)."""
    found = _TILE.search(name)
    if found is None:
        return None
    depth = found["k"] or found["k2"]
    return Tile(int(found["m"]), int(found["n"]), int(depth) if depth else None)


def inner_of(counter: int, grid: Dim3, tile: Tile) -> int | None:
    """The length of the sum that makes a counter a whole number of tiles; None where none does."""
    step = prod(grid) * 2 * tile.rows * tile.columns
    return counter // step if step and counter % step == 0 else None


def padded(m: int, n: int, k: int, tile: Tile) -> int:
    """flops of a product over whole tiles."""
    depth = tile.depth or 1
    rows, columns = ceil(m / tile.rows) * tile.rows, ceil(n / tile.columns) * tile.columns
    return 2 * rows * columns * ceil(k / depth) * depth


def explain(counter: int, grid: Dim3, name: str, m: int, n: int, k: int) -> Padding | None:
    """The padding that makes a counter out of m x k by k x n; None where it does not explain it."""
    tile = tile_of(name)
    if tile is None or 2 * m * n * k > counter:
        return None
    inner = inner_of(counter, grid, tile)
    turned = Tile(tile.columns, tile.rows, tile.depth)
    for one in (tile, turned):
        if inner is not None and counter == padded(m, n, k, one):
            return Padding(prod(grid), one, inner, 2 * m * n * k, counter)
    return None

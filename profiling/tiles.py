"""A counter of tensor operations beside the product that ran; why the counter is larger, or that it is not.

Kernels work on whole tiles: a product of 1000 rows in tiles of 128 computes 1024. So a counter is never below
the formula, and equals the formula of the padded sizes. Attention leaves out tiles that a mask empties.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import ceil, prod

from forwardbook.profiling.readers.kernels import Dim3

_TILE = re.compile(
    r"(?:_|tilesize)(?P<m>\d{2,3})x(?P<n>\d{1,3})(?:x(?P<k>\d{1,3}))?(?!\d)"
    r"(?:_(?P<k2>\d{2,3})x\d)?"
)
# Rows and columns of tiles that kernels of attention are made for.
ATTENTION = (16, 32, 64, 80, 96, 128, 192, 256)


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


@dataclass(frozen=True)
class AttentionTiles:
    """A counter of attention explained: tiles of queries and keys for each head, of those that there are."""

    heads: int
    tiles: int
    of: int
    tile: Tile
    width: int
    formula: int
    counter: int

    @property
    def text(self) -> str:
        """The equation."""
        left = f" (of {self.of} tiles a mask leaves {self.tiles})" if self.tiles < self.of else ""
        tile = f"{self.tile.rows} * {self.tile.columns}"
        return f"{self.counter} = {self.heads} * {self.tiles} * 2 * {tile} * {self.width}{left}"


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
    for one in (tile, Tile(tile.columns, tile.rows, tile.depth)):
        if counter == padded(m, n, k, one):
            # blocks that stay take one tile after another, so that the grid need not be the number of tiles
            inner = inner_of(counter, grid, one)
            blocks = prod(grid) if inner is not None else ceil(m / one.rows) * ceil(n / one.columns)
            return Padding(
                blocks, one, counter // (blocks * 2 * one.rows * one.columns), 2 * m * n * k, counter
            )
    return None


def explain_attention(
    counter: int, heads: int, queries: int, keys: int, width: int, name: str
) -> AttentionTiles | None:
    """The tiles in which attention is what was counted; None where there are none.

    `heads` are those of all samples, `width` is that of a key and of a value together. What a name tells of
    columns is taken; several groups of threads may share a tile's rows, so that these are looked for.
    """
    told = tile_of(name)
    for columns in ATTENTION if told is None else (told.columns,):
        for rows in ATTENTION if told is None else (told.rows, *ATTENTION):
            down, across = ceil(queries / rows), ceil(keys / columns)
            # of a causal mask the last query sees every key
            seen = (keys - queries + min((one + 1) * rows, queries) for one in range(down))
            left = sum(min(across, ceil(one / columns)) for one in seen)
            for tiles in dict.fromkeys((down * across, left)):
                if counter == 2 * heads * tiles * rows * columns * width:
                    formula = 2 * heads * queries * keys * width
                    tile = Tile(rows, columns)
                    return AttentionTiles(heads, tiles, down * across, tile, width, formula, counter)
    return None

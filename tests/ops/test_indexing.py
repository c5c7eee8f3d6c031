"""Indexing: the rows touched move, the table does not."""

from collections.abc import Callable

import pytest

from forwardbook.analyzers.ops import Operand, Operation, Size
from forwardbook.cost import Cost

Make = Callable[..., Operand]
MakeOp = Callable[..., Operation]
Tally = Callable[..., Cost]


def test_embedding_reads_rows(tally: Tally, operation: MakeOp, tensor: Make, index: Make) -> None:
    """10 indices of 8 bytes and 10 rows of 16 floats, whatever the vocabulary."""

    def build(v: Size, h: Size, b: Size, s: Size) -> Operation:
        return operation("aten.embedding", (b, s, h), weight=tensor(v, h), indices=index(b, s))

    assert tally(build, v=50000, h=16, b=2, s=5) == Cost(0, 0, 8 * 10 + 4 * 160, 4 * 160)


@pytest.mark.parametrize("name", ["gather", "index_select", "take"])
def test_picking_reads_what_comes_out(
    tally: Tally, operation: MakeOp, tensor: Make, index: Make, name: str
) -> None:
    """As many elements as the output has, and the index."""

    def build(v: Size, n: Size) -> Operation:
        return operation(f"aten.{name}", (n,), self=tensor(v), dim=0, index=index(n))

    assert tally(build, v=999, n=6) == Cost(0, 0, 8 * 6 + 4 * 6, 24)


def test_index_reads_every_index_once(tally: Tally, operation: MakeOp, tensor: Make, index: Make) -> None:
    """x[rows, :, columns] with broadcast indices."""

    def build(v: Size, h: Size, m: Size, n: Size) -> Operation:
        places = [index(m, 1), None, index(n)]
        return operation("aten.index", (m, n, h), self=tensor(v, h, v), indices=places)

    assert tally(build, v=99, h=3, m=4, n=5).reads == 8 * (4 + 5) + 4 * 60


def test_index_put_writes_what_it_touches(tally: Tally, operation: MakeOp, tensor: Make, index: Make) -> None:
    """A static cache (B, H, L, D) gets s new positions: only those move."""

    def build(b: Size, h: Size, length: Size, d: Size, s: Size) -> Operation:
        cache = tensor(b, h, length, d, mutated=True)
        places = [None, None, index(s)]
        return operation("aten.index_put_", cache, self=cache, indices=places, values=tensor(b, h, s, d))

    assert tally(build, b=2, h=3, length=1000, d=4, s=5) == Cost(0, 0, 8 * 5 + 4 * 120, 4 * 120)


def test_accumulating_reads_what_it_adds_to(
    tally: Tally, operation: MakeOp, tensor: Make, index: Make
) -> None:
    """index_put_(accumulate=True) with broadcast indices: 20 places."""

    def build(v: Size, m: Size, n: Size) -> Operation:
        table = tensor(v, v, mutated=True)
        more = {"indices": [index(m, 1), index(1, n)], "values": tensor(), "accumulate": True}
        return operation("aten.index_put_", table, self=table, **more)

    assert tally(build, v=99, m=4, n=5) == Cost(0, 20, 8 * 9 + 4 + 80, 80)


def test_index_put_by_a_mask(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """A mask touches as many elements as values has; with a single value it is masked_fill."""

    def rows(m: Size, n: Size, h: Size) -> Operation:
        table, mask = tensor(m, h, mutated=True), tensor(m, width=1, floating=False)
        return operation("aten.index_put_", table, self=table, indices=[mask], values=tensor(n, h))

    def one(m: Size, n: Size, h: Size) -> Operation:
        table, mask = tensor(m, h, mutated=True), tensor(m, width=1, floating=False)
        return operation("aten.index_put_", table, self=table, indices=[mask], values=tensor())

    assert tally(rows, m=9, n=4, h=3) == Cost(0, 0, 9 + 48, 48)
    assert tally(one, m=9, n=4, h=3) == Cost(0, 27, 4 * 27 + 9 + 4, 4 * 27)


def test_as_a_function_the_table_is_copied(
    tally: Tally, operation: MakeOp, tensor: Make, index: Make
) -> None:
    """index_put without an underscore reads self and writes the result whole."""

    def build(v: Size, n: Size) -> Operation:
        return operation("aten.index_put", (v,), self=tensor(v), indices=[index(n)], values=tensor(n))

    assert tally(build, v=99, n=6) == Cost(0, 0, 4 * 99 + 8 * 6 + 24, 4 * 99)


def test_scatter_in_place_and_as_a_function(
    tally: Tally, operation: MakeOp, tensor: Make, index: Make
) -> None:
    """One hot by scatter_: an index and a value; scatter_add_ also reads and adds."""

    def value(v: Size, n: Size) -> Operation:
        table = tensor(n, v, mutated=True)
        return operation(
            "aten.scatter_", table, overload="value", self=table, dim=1, index=index(n, 1), value=1
        )

    def added(v: Size, n: Size) -> Operation:
        table = tensor(n, v, mutated=True)
        return operation("aten.scatter_add_", table, self=table, dim=1, index=index(n, 1), src=tensor(n, 2))

    def copied(v: Size, n: Size) -> Operation:
        return operation(
            "aten.scatter", (n, v), self=tensor(n, v), dim=1, index=index(n, 1), src=tensor(n, 1)
        )

    assert tally(value, v=9, n=5) == Cost(0, 0, 40, 20)
    assert tally(added, v=9, n=5) == Cost(0, 5, 40 + 20 + 20, 20)
    assert tally(copied, v=9, n=5) == Cost(0, 0, 180 + 40 + 20, 180)


def test_index_add_and_copy(tally: Tally, operation: MakeOp, tensor: Make, index: Make) -> None:
    """The gathering of expert outputs: 5 rows of 3 added into a table of 99."""

    def add(v: Size, n: Size, h: Size) -> Operation:
        table = tensor(v, h, mutated=True)
        return operation("aten.index_add_", table, self=table, dim=0, index=index(n), source=tensor(n, h))

    def copy(v: Size, n: Size, h: Size) -> Operation:
        table = tensor(v, h, mutated=True)
        return operation("aten.index_copy_", table, self=table, dim=0, index=index(n), source=tensor(n, h))

    def fill(v: Size, n: Size, h: Size) -> Operation:
        table = tensor(v, h, mutated=True)
        return operation("aten.index_fill_", table, self=table, dim=-2, index=index(n), value=0)

    assert tally(add, v=99, n=5, h=3) == Cost(0, 15, 40 + 60 + 60, 60)
    assert tally(copy, v=99, n=5, h=3) == Cost(0, 0, 40 + 60, 60)
    assert tally(fill, v=99, n=5, h=3) == Cost(0, 0, 40, 60)


def test_embedding_bag_adds_its_rows(tally: Tally, operation: MakeOp, tensor: Make, index: Make) -> None:
    """15 rows of 4 summed into 3 bags; auxiliary outputs are not counted."""

    def build(v: Size, h: Size, n: Size, b: Size) -> Operation:
        parts = {"weight": tensor(v, h), "indices": index(n), "offsets": index(b)}
        return operation("aten._embedding_bag", (b, h), (n,), (b,), (b,), **parts)

    assert tally(build, v=99, h=4, n=15, b=3) == Cost(0, 60, 8 * 18 + 240, 48)


def test_embedding_renorm_touches_rows(tally: Tally, operation: MakeOp, tensor: Make, index: Make) -> None:
    """3 per element of the rows looked up, which are read and written."""

    def build(v: Size, h: Size, n: Size) -> Operation:
        table = tensor(v, h, mutated=True)
        return operation("aten.embedding_renorm_", table, self=table, indices=index(n))

    assert tally(build, v=99, h=4, n=6) == Cost(0, 72, 48 + 96, 96)


def test_selection_by_data(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """nonzero compares each element, masked_select and masked_scatter select each."""

    def nonzero(n: Size, k: Size) -> Operation:
        return operation("aten.nonzero", tensor(k, 1, width=8, fresh=True), self=tensor(n))

    def select(n: Size, k: Size) -> Operation:
        return operation("aten.masked_select", (k,), self=tensor(n), mask=tensor(n, width=1, floating=False))

    def scatter(n: Size, k: Size) -> Operation:
        mask = tensor(n, width=1, floating=False)
        return operation("aten.masked_scatter", (n,), self=tensor(n), mask=mask, source=tensor(k))

    assert tally(nonzero, n=9, k=4) == Cost(0, 9, 36, 32)
    assert tally(select, n=9, k=4) == Cost(0, 9, 45, 16)
    assert tally(scatter, n=9, k=4) == Cost(0, 9, 36 + 9 + 16, 36)

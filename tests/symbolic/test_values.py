"""Values ride along on meta tensors, and what nobody knows is assumed aloud."""

from __future__ import annotations

import resource
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.symbolic.ledger import Ledger, number_of
from forwardbook.analyzers.symbolic.recorder import Widths
from forwardbook.analyzers.symbolic.run import default_dtype, run_measured, run_symbolically
from forwardbook.analyzers.symbolic.shadows import LIMIT, carry, elements, shadow, to_meta
from forwardbook.analyzers.symbolic.shapes_of_values import UnknownValue
from forwardbook.analyzers.symbolic.values import Values
from forwardbook.formula import Expr

aten = torch.ops.aten


@pytest.fixture
def values() -> Values:
    """Values of a run on plain integers."""
    return Values(symbolic=False)


def floats(*shape: int) -> Tensor:
    """A tensor of weights: nobody knows its values."""
    return torch.empty(shape, device="meta")


def known(value: Tensor) -> list[object]:
    """What a tensor is known to hold."""
    found = shadow(value)
    assert found is not None
    numbers: list[object] = found.tolist()
    return numbers


def test_value_follows_its_operations(values: Values) -> None:
    """The sum of two known tensors is known; with an unknown one it is not."""
    positions = to_meta(torch.arange(3))
    moved = values.run(aten.add.Tensor, (positions, to_meta(torch.tensor(10))), {})
    lost = values.run(aten.add.Tensor, (positions, floats(3)), {})
    assert isinstance(moved, Tensor) and isinstance(lost, Tensor)

    assert ("meta", [10, 11, 12], None) == (moved.device.type, known(moved), shadow(lost))


def test_constant_meets_meta(values: Values) -> None:
    """A constant made on the CPU moves to meta where it meets a meta tensor, with its value."""
    out = values.run(aten.add.Tensor, (torch.arange(2), to_meta(torch.tensor([5, 7]))), {})
    assert isinstance(out, Tensor)

    assert ("meta", [5, 8]) == (out.device.type, known(out))


def test_large_value_is_left_behind(values: Values) -> None:
    """A value above the limit is not carried."""
    large = carry(floats(LIMIT + 1), torch.empty(LIMIT + 1))

    assert (LIMIT + 1, None) == (elements(large), shadow(large))


def test_overwritten_value_is_forgotten(values: Values) -> None:
    """A tensor that unknown values were written into is not known any more."""
    buffer = to_meta(torch.zeros(3))
    values.run(aten.copy_.default, (buffer, floats(3)), {})

    assert shadow(buffer) is None


def test_random_and_uninitialised_values_are_unknown(values: Values) -> None:
    """What empty() or bernoulli() would hold is no value to rely on."""
    empty = values.run(aten.empty.memory_format, ([3],), {"device": torch.device("meta")})
    drawn = values.run(aten.bernoulli.default, (to_meta(torch.ones(3)),), {})
    assert isinstance(empty, Tensor) and isinstance(drawn, Tensor)

    assert (None, None) == (shadow(empty), shadow(drawn))


def test_known_scalar_is_read(values: Values) -> None:
    """`.item()` of a known tensor is its number, and nothing is assumed."""
    assert 7 == values.run(aten._local_scalar_dense.default, (to_meta(torch.tensor(7)),), {})
    assert {} == dict(values.assumed)


@pytest.mark.parametrize(("dtype", "number"), [(torch.float32, 1.0), (torch.int64, 1), (torch.bool, False)])
def test_unknown_scalar_is_an_assumption(values: Values, dtype: torch.dtype, number: object) -> None:
    """`.item()` of a tensor from weights is a default, and that is written down."""
    tensor = torch.empty((), dtype=dtype, device="meta")

    assert number == values.run(aten._local_scalar_dense.default, (tensor,), {})
    name = str(dtype).removeprefix("torch.")
    [said] = values.assumed
    assert said.startswith(f"the value of a {name} scalar, taken as {number}: ")


def test_a_check_of_data_holds(values: Values) -> None:
    """A check of numbers that only a run with data has does not end the run, and that is written down."""
    inside = values.run(aten.gt.Scalar, (floats(3), 0), {})
    found = values.run(aten._is_all_true.default, (inside,), {})

    assert values.run(aten._local_scalar_dense.default, (found,), {}) is True
    assert {"the value of a check of data, which holds (_is_all_true)": 1} == dict(values.assumed)


def test_lengths_are_not_rounded_where_bfloat16_is_the_default(values: Values) -> None:
    """A length over a stride is what it is for a model in bfloat16, run where float32 is the default."""
    with default_dtype(torch.bfloat16):
        frames = values.run(aten.div.Tensor, (to_meta(torch.tensor(1007)), to_meta(torch.tensor(1))), {})

    assert isinstance(frames, Tensor)
    assert (1007.0, torch.bfloat16) == (known(frames), frames.dtype)


def test_boolean_index_of_a_known_mask(values: Values) -> None:
    """Indexing by a known mask gives as many rows as the mask is true."""
    mask = to_meta(torch.tensor([True, False, True, True]))
    out = values.run(aten.index.Tensor, (floats(4, 2), [mask]), {})
    assert isinstance(out, Tensor)

    assert ((3, 2), {}) == (tuple(out.shape), dict(values.assumed))


def test_boolean_index_of_an_unknown_mask_takes_every_row(values: Values) -> None:
    """A mask from weights is taken to be true everywhere, which is written down."""
    mask = torch.empty(4, dtype=torch.bool, device="meta")
    out = values.run(aten.index.Tensor, (floats(4, 2), [mask]), {})
    assert isinstance(out, Tensor)

    assert (4, 2) == tuple(out.shape)
    assert ["a mask computed from weights is true everywhere (boolean index)"] == list(values.assumed)


def test_full_mask_keeps_its_size_symbolic() -> None:
    """nonzero() of a mask that is true everywhere has as many rows as the mask has elements, as a symbol."""
    ledger = Ledger()
    length = ledger.symbol("length", 4)
    mask = carry(torch.empty((length,), dtype=torch.bool, device="meta"), torch.ones(4, dtype=torch.bool))
    out = Values(symbolic=True).run(aten.nonzero.default, (mask,), {})
    assert isinstance(out, Tensor)

    assert length.node is out.shape[0].node  # type: ignore[attr-defined]
    assert [[0], [1], [2], [3]] == known(out)


def test_one_of_each_row_keeps_the_rows_symbolic() -> None:
    """A matrix that is true once in each row gives one element a row, however many those are."""
    length = Ledger().symbol("length", 3)
    mask = carry(torch.empty((length, 5), dtype=torch.bool, device="meta"), torch.eye(3, 5).bool())
    values = Values(symbolic=True)
    out = values.run(aten.index.Tensor, (torch.empty((length, 5), device="meta"), [mask]), {})
    assert isinstance(out, Tensor)

    assert length.node is out.shape[0].node  # type: ignore[attr-defined]
    assert ["a mask of known values is true once in each row (boolean index)"] == list(values.assumed)


def test_index_beyond_a_known_table_raises_as_in_eager(values: Values) -> None:
    """An index that is known to be out of range is refused, and does not only lose its value."""
    table, index = to_meta(torch.tensor([0, 2, 8])), to_meta(torch.tensor([1, 3]))

    with pytest.raises(IndexError, match="out of bounds"):
        values.run(aten.index.Tensor, (table, [index]), {})


def test_values_that_are_all_the_same_are_one_however_many(values: Values) -> None:
    """unique() of known values that are all the same gives one of them, and their number stays symbolic."""
    ledger = Ledger()
    length = ledger.symbol("length", 4)
    same = carry(torch.empty((length,), dtype=torch.int64, device="meta"), torch.full((4,), 7))
    out = Values(symbolic=True).run(aten.unique_consecutive.default, (same,), {})
    assert isinstance(out, tuple)

    assert (1,) == tuple(out[0].shape)
    assert [] == ledger.consumed


def test_masked_select_counts_a_known_mask(values: Values) -> None:
    """masked_select gives as many elements as the known mask is true."""
    mask = to_meta(torch.tensor([[True, False], [True, True]]))
    out = values.run(aten.masked_select.default, (floats(2, 2), mask), {})
    assert isinstance(out, Tensor)

    assert (3,) == tuple(out.shape)


def test_routing_from_weights_is_balanced(values: Values) -> None:
    """The experts that an unknown router chooses are all chosen equally often."""
    out = values.run(aten.topk.default, (floats(6, 4), 2), {})
    assert isinstance(out, tuple)
    index = shadow(out[1])
    assert index is not None

    assert [3, 3, 3, 3] == torch.bincount(index.flatten(), minlength=4).tolist()


def test_routing_is_assumed_where_a_number_is_made_of_it(values: Values) -> None:
    """How many tokens each expert has is a number of balanced routing; that they are chosen says nothing."""
    out = values.run(aten.topk.default, (floats(6, 4), 2), {})
    assert isinstance(out, tuple)
    chosen = values.run(aten.view.default, (out[1], [12]), {})
    counts = values.run(aten.bincount.default, (chosen, None, 4), {})
    assert isinstance(counts, torch.Tensor)
    assert {} == dict(values.assumed)

    first = values.run(aten.select.int, (counts, 0, 0), {})
    assert 3 == values.run(aten._local_scalar_dense.default, (first,), {})
    said = "balanced routing: indices of topk over values from weights go round robin"
    assert {said: 1} == dict(values.assumed)


def test_shape_that_only_weights_know_is_refused(values: Values) -> None:
    """An operation whose shape depends on unknown values says so."""
    with pytest.raises(UnknownValue, match="the shape of _unique2 depends on values"):
        values.run(aten._unique2.default, (torch.empty(4, device="meta"),), {})


def test_kernel_without_symbols_runs_at_this_runs_numbers() -> None:
    """What has no symbolic kernel runs at the numbers, and the sizes are written down as consumed."""
    ledger = Ledger()
    ledger.running = True
    size = ledger.symbol("size", 3)
    out = Values(symbolic=True).run(aten.size.default, (torch.empty((size, 2), device="meta"),), {})

    assert [3, 2] == out
    assert [size.node] == [c.node for c in ledger.consumed]
    assert 3 == number_of(size)


class Written(nn.Module):
    """Pads by numbers that it writes into a tensor that was empty, and into one made of a list."""

    def forward(self, x: Tensor) -> Tensor:
        shapes = torch.empty((2, 2), dtype=torch.long, device=x.device)
        shapes[0, 0], shapes[0, 1], shapes[1, 0], shapes[1, 1] = 2, 3, 1, 4
        listed = torch.tensor([[2, 3], [1, 4]], device=x.device)
        return x.repeat(int((shapes.prod(1) == listed.prod(1)).sum()), int(shapes.prod(1).sum()))


def size_of_result(recipe: Recipe, symbolic: bool) -> Expr:
    """The bytes of the one result of the one call, where `rows` is 5 or a symbol."""
    trace = (
        run_symbolically(recipe).trace
        if symbolic
        else run_measured(recipe, {"rows": 5}, torch.float32, Widths(4, 4, 4))[0]
    )
    [call] = trace.calls
    [size] = call.results.values()
    return Expr.of(size).subs({"a_dtype_bytes": 4})


@pytest.mark.parametrize("symbolic", [True, False])
def test_integers_that_python_writes_are_known(recipe_from: Callable[..., Recipe], symbolic: bool) -> None:
    """What is written into an empty tensor of integers, or listed, is a value on meta too."""
    recipe = recipe_from(Written, lambda n: Written(), lambda n, maker: (maker.floats((n.rows, 3)),), rows=5)

    size = size_of_result(recipe, symbolic)

    rows = Expr.symbol("rows") if symbolic else Expr.const(5)
    assert size == rows * (2 * 3 * 10 * 4)


class Scalars(nn.Module):
    """Lists, pads and resizes by tensors of one number each."""

    def forward(self, x: Tensor) -> Tensor:
        two, three = torch.tensor([2, 3], device=x.device)
        ends = torch.tensor([0, two, three + 1], device=x.device).cumsum(0)
        wide = nn.functional.pad(x, (0, three))
        large = nn.functional.interpolate(wide[None, None], size=(three, two + ends[2]))  # type: ignore[arg-type]
        return large[0, 0].expand(int(ends[1]), -1, -1).clone()


@pytest.mark.parametrize("symbolic", [True, False])
def test_numbers_in_tensors_are_sizes_wherever_torch_takes_some(
    recipe_from: Callable[..., Recipe], symbolic: bool
) -> None:
    """torch asks such tensors for their number where no mode sees it, which meta tensors refuse."""
    recipe = recipe_from(Scalars, lambda n: Scalars(), lambda n, maker: (maker.floats((n.rows, 3)),), rows=5)

    size = size_of_result(recipe, symbolic)

    assert size == 2 * 3 * (2 + 6) * 4


@pytest.mark.parametrize("part", [False, True])
def test_zeros_and_clones_are_their_own_once_they_are_written_to(values: Values, part: bool) -> None:
    """They share memory as long as nobody writes, to them or to a view of them."""
    made = [values.run(aten.zeros.default, ([3],), {"device": "meta"}) for _ in range(2)]
    first, other = (one for one in made if isinstance(one, Tensor))
    copy = values.run(aten.clone.default, (first,), {})
    assert isinstance(copy, Tensor)
    written = values.run(aten.slice.Tensor, (first, 0, 1), {}) if part else first
    values.run(aten.add_.Tensor, (written, to_meta(torch.tensor(2.0))), {})

    assert ([0.0, 2.0, 2.0] if part else [2.0, 2.0, 2.0]) == known(first)
    assert [0.0, 0.0, 0.0] == known(copy) == known(other)


def test_a_clone_that_is_written_to_leaves_its_original(values: Values) -> None:
    """The other way round as well."""
    numbers = to_meta(torch.arange(3))
    copy = values.run(aten.clone.default, (numbers,), {})
    assert isinstance(copy, Tensor)
    values.run(aten.mul_.Tensor, (copy, to_meta(torch.tensor(5))), {})

    assert ([0, 1, 2], [0, 5, 10]) == (known(numbers), known(copy))
    assert shadow(copy) is not shadow(numbers)


def test_codebooks_full_of_zeros_take_no_memory(values: Values) -> None:
    """Half a gigabyte of them, and as much of clones, is one value as long as nobody writes."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    books = [values.run(aten.zeros.default, ([1024, 128],), {"device": "meta"}) for _ in range(1000)]
    copies = [values.run(aten.clone.default, (one,), {}) for one in books]
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    assert all(isinstance(one, Tensor) and shadow(one) is not None for one in (*books, *copies))
    assert after - before < 100 * 1024

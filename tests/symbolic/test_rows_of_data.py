"""Operations whose number of rows hangs on data give as many as their line has a size for."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from forwardbook.analyzers.instances.shapes import make_values, values_of
from forwardbook.analyzers.instances.tensors import PlainMaker
from forwardbook.analyzers.symbolic.of_data import DataSizes, OutOfRange
from forwardbook.analyzers.symbolic.of_weights import mark
from forwardbook.analyzers.symbolic.run import MetaMaker
from forwardbook.analyzers.symbolic.shadows import shadow, to_meta
from forwardbook.analyzers.symbolic.trace import Place
from forwardbook.analyzers.symbolic.values import Values

aten = torch.ops.aten
Run = Callable[..., list[Tensor]]


@pytest.fixture
def run() -> Run:
    """Runs an operation on values that data decides; a line has as many rows as are told, or as there are."""

    def ran(func: torch._ops.OpOverload, *args: object, told: int | None = None) -> list[Tensor]:
        sizes = {} if told is None else {"selected_count": told}
        data = DataSizes(lambda name, hint, *said: sizes.get(name, hint), told=sizes)
        data.places = lambda frame: (Place(__file__, "forward", 1, 1, 0, 0),)
        made = Values(symbolic=False, data=data).run(func, args, {})
        return [made] if isinstance(made, Tensor) else list(made)  # type: ignore[call-overload]

    return ran


def of_data(*values: int, choices: int = 0) -> Tensor:
    """Whole numbers that stand for values of weights."""
    tensor = to_meta(torch.tensor(values))
    mark([tensor], choices)
    return tensor


def test_a_mask_of_each_row_selects_whole_rows(run: Run) -> None:
    """A column of truths that is spread over a matrix selects as many elements of each row as it has."""

    def select(told: int | None) -> torch.Size:
        mask = to_meta(torch.tensor([[True], [False], [True], [True]]))
        mark([mask])
        return run(aten.masked_select.default, torch.empty(4, 6, device="meta"), mask, told=told)[0].shape

    assert ((2 * 6,), (3 * 6,)) == (select(2), select(None))
    with pytest.raises(OutOfRange, match="5 rows were asked for of a mask of 4 elements"):
        select(5)


@pytest.mark.parametrize("told", [1, 2, 5])
def test_values_that_differ_are_as_many_as_told(run: Run, told: int) -> None:
    """Each value has a place among them; how often each occurs has as many rows."""
    values, place, often = run(aten._unique2.default, of_data(3, 1, 3, 0, 1), True, True, True, told=told)

    assert ((told,), (5,), (told,)) == (values.shape, place.shape, often.shape)
    found = shadow(place)
    assert found is not None and int(found.max()) < told


def test_what_nobody_asked_of_unique_is_empty(run: Run) -> None:
    """As in eager."""
    _, place, often = run(aten._unique2.default, of_data(3, 1, 3), told=2)

    assert (0, 0) == (place.numel(), often.numel())


def test_columns_that_differ_keep_their_rows(run: Run) -> None:
    """Of a matrix along a side only that side changes."""
    values = of_data(3, 1, 3, 4).reshape(2, 2)
    mark([values])

    assert (2, 1) == run(aten.unique_dim.default, values, 1, told=1)[0].shape


def test_rows_are_repeated_as_often_as_told(run: Run) -> None:
    """The places that come out are of rows there are, in order."""
    [place] = run(aten.repeat_interleave.Tensor, of_data(2, 1, 4), told=9)

    assert (9,) == place.shape
    found = shadow(place)
    assert found is not None
    assert sorted(found.tolist()) == found.tolist()
    assert {0, 1, 2} == set(found.tolist())


def test_a_run_that_is_told_nothing_repeats_some_rows(run: Run) -> None:
    """Where nobody knows how often, and no size is told, there are as many as a derivation begins with."""
    scores = torch.empty(3, device="meta")
    often = Values(symbolic=False).run(aten._to_copy.default, (scores,), {"dtype": torch.int64})

    [place] = run(aten.repeat_interleave.Tensor, often)
    assert (11,) == place.shape


def test_rows_that_are_told_in_all_are_no_size_of_data() -> None:
    """Where the caller says how many rows there are, as a size of its own, that is it."""
    values = Values(symbolic=False, data=DataSizes(None))
    repeats = torch.empty(3, dtype=torch.int64, device="meta")

    made = values.run(aten.repeat_interleave.Tensor, (repeats,), {"output_size": 8})
    assert isinstance(made, Tensor)
    assert (8,) == made.shape


def test_a_count_of_each_class_has_as_many_rows_as_classes(run: Run) -> None:
    """What was chosen among four counts to four where it is told so; else nobody knows the largest."""
    assert (4,) == run(aten.bincount.default, of_data(0, 1, 1, choices=4), None, 4)[0].shape
    assert (7,) == run(aten.bincount.default, of_data(0, 1, 1), None, 0, told=7)[0].shape


def test_what_a_user_gives_stands_for_any_values() -> None:
    """Whole numbers and masks of `--input` are made up; those that our recipes make are what they are."""
    values = values_of("Net", {"ids": "n:int64", "mask": "n:bool", "x": "n,"})
    made = make_values(values, {"n": 5}, lambda name, hint, *said: hint, MetaMaker())
    asked = DataSizes(lambda name, hint, *said: hint)
    asked.places = lambda frame: (Place(__file__, "forward", 1, 1, 0, 0),)

    assert asked.rows(made["ids"]) is not None  # type: ignore[arg-type]
    assert asked.rows(made["mask"]) is not None  # type: ignore[arg-type]
    assert asked.rows(MetaMaker().ones((5,), torch.bool)) is None
    plain = make_values(values, {"n": 5}, lambda name, hint, *said: hint, PlainMaker())
    assert [0, 1, 2, 3, 4] == plain["ids"].tolist()  # type: ignore[attr-defined]


def test_a_truth_of_made_up_values_is_told_with_its_line() -> None:
    """What a run took it for is written down: another user's values may say otherwise."""
    values = Values(symbolic=False, data=DataSizes(None))
    values.data.places = lambda frame: (Place(__file__, "forward", 1, 1, 0, 0),)
    truth = to_meta(torch.tensor(True))
    mark([truth])

    assert values.run(aten._local_scalar_dense.default, (truth,), {}) is True
    said = '"""Operations whose number of rows hangs on data give as many as their line has a size for."""'
    assert {f"the value of a bool scalar, taken as True: `{said}`": 1} == dict(values.assumed)

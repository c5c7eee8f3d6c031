"""The twins that take symbolic sizes give the shapes that torch's own kernels give."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.utils._pytree import tree_leaves

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.symbolic.run import run_symbolically
from forwardbook.analyzers.symbolic.standins import STAND_INS
from forwardbook.pipeline.derivation.regimes import derive

nn = torch._C._nn
SPATIAL = {
    torch.max_pool1d_with_indices: 1,
    nn.max_pool2d_with_indices: 2,
    nn.max_pool3d_with_indices: 3,
    torch.avg_pool1d: 1,
    nn.avg_pool2d: 2,
    nn.avg_pool3d: 3,
}
ANY = settings(max_examples=60, deadline=None)


def shapes(kernel: object, *args: object) -> list[torch.Size] | None:
    """The shapes of what a kernel returns; None where it refuses its arguments."""
    assert callable(kernel)
    try:
        return [leaf.shape for leaf in tree_leaves(kernel(*args)) if isinstance(leaf, Tensor)]
    except RuntimeError:
        return None


def meta(*shape: int) -> Tensor:
    return torch.empty(shape, device="meta")


@pytest.mark.parametrize("kernel", [*SPATIAL, torch.adaptive_max_pool1d, nn.adaptive_max_pool2d])
def test_pools_lay_their_results_out_as_torch_does(kernel: Callable[..., object]) -> None:
    """With channels last where those of the input are, as a transposed sequence has them; else in order."""
    count = SPATIAL.get(kernel) or {torch.adaptive_max_pool1d: 1}.get(kernel, 2)  # type: ignore[call-overload]
    last = torch.empty(2, *(8, 9, 10)[:count], 6, device="meta").movedim(-1, 1)
    for given_ in (last, last.contiguous(), last[:, ::2]):
        laid = [
            [leaf.stride() for leaf in tree_leaves(run(given_, [2] * count)) if isinstance(leaf, Tensor)]
            for run in (kernel, STAND_INS[kernel])
        ]

        assert laid[0] == laid[1]


@ANY
@given(st.sampled_from(list(SPATIAL)), st.data())
def test_pools_have_torchs_shapes(kernel: object, data: st.DataObject) -> None:
    """Pooling with any kernel, stride, padding, dilation and rounding: torch's shapes, and its refusals."""
    count = SPATIAL[kernel]  # type: ignore[index]

    def each(low: int, high: int) -> list[int]:
        return data.draw(st.lists(st.integers(low, high), min_size=count, max_size=count))

    size, window, stride = each(1, 11), each(1, 4), each(1, 4)
    padding = each(0, 2)
    stride = stride if data.draw(st.booleans()) else []
    ceil_mode = data.draw(st.booleans())
    outside = (2, 3) if count < 3 or data.draw(st.booleans()) else (3,)
    rest = [each(1, 2), ceil_mode] if "max" in getattr(kernel, "__name__", "") else [ceil_mode]
    args = (meta(*outside, *size), window, stride, padding, *rest)

    assert shapes(kernel, *args) == shapes(STAND_INS[kernel], *args)


@pytest.mark.parametrize(("count", "refused"), [(1, False), (2, False), (3, True)])
def test_average_of_a_window_larger_than_the_input(
    count: int, refused: bool, recipe_from: Callable[..., Recipe]
) -> None:
    """Padded or rounded up, such a window fits in one and two dimensions; in three it is a condition."""
    pool = getattr(F, f"avg_pool{count}d")

    class Pool(torch.nn.Module):
        def __init__(self, window: int) -> None:
            super().__init__()
            self.window = window

        def forward(self, x: Tensor) -> Tensor:
            out: Tensor = pool(x, self.window, ceil_mode=True)
            return out

    recipe = recipe_from(
        Pool,
        lambda n: Pool(n.window),
        lambda n, maker: (maker.floats((2, 3, *(getattr(n, f"size_{i}") for i in range(count)))),),
        window=3,
        **{f"size_{i}": 9 + 2 * i for i in range(count)},
    )
    [derived] = derive(recipe, torch.float32, [recipe.calls_as], seed=1)
    said = [c.text() for c in derived.pattern.conditions]

    assert derived.exact
    assert [f"{{size_{i}}} >= {{window}}" for i in range(count if refused else 0)] == [
        text for text in said if text.endswith(">= {window}")
    ]


@ANY
@given(
    st.lists(st.integers(3, 9), min_size=2, max_size=2),
    st.lists(st.integers(1, 3), min_size=2, max_size=2),
    st.lists(st.integers(1, 2), min_size=2, max_size=2),
    st.lists(st.integers(0, 2), min_size=2, max_size=2),
    st.lists(st.integers(1, 3), min_size=2, max_size=2),
)
def test_unfold_and_fold_have_torchs_shapes(
    size: list[int], kernel: list[int], dilation: list[int], padding: list[int], stride: list[int]
) -> None:
    """Columns of an image, and the image of those columns."""
    image = (meta(2, 3, *size), kernel, dilation, padding, stride)
    found = shapes(nn.im2col, *image)

    assert found == shapes(STAND_INS[nn.im2col], *image)
    if found is not None:
        columns = (meta(*found[0]), size, kernel, dilation, padding, stride)
        assert shapes(nn.col2im, *columns) == shapes(STAND_INS[nn.col2im], *columns)


@ANY
@given(st.integers(-3, 2), st.integers(0, 8), st.integers(0, 4), st.sampled_from([(0, 1, 2), (2, 0, 1)]))
def test_windows_lie_in_memory_as_torch_lays_them(
    dimension: int, size: int, step: int, order: tuple[int, ...]
) -> None:
    """Of tensors in order and transposed: shape, strides and offset, or a refusal where torch refuses."""
    tensor = meta(4, 5, 7)[:, 1:].permute(order)

    def views(kernel: Callable[..., object]) -> object:
        try:
            view = kernel(tensor, dimension, size, step)
        except RuntimeError:
            return None
        assert isinstance(view, Tensor)
        return view.shape, view.stride(), view.storage_offset()

    assert views(STAND_INS[torch.Tensor.unfold]) == views(torch.Tensor.unfold)


@pytest.mark.parametrize(
    ("kernel", "args"),
    [
        (torch.adaptive_max_pool1d, (meta(2, 3, 7), [4])),
        (nn.adaptive_max_pool2d, (meta(2, 3, 7, 5), [4, 3])),
        (nn.adaptive_max_pool3d, (meta(2, 3, 7, 5, 6), [4, 3, 2])),
        (torch.adaptive_avg_pool1d, (meta(2, 3, 7), [4])),
        (nn.fractional_max_pool2d, (meta(2, 3, 7, 5), [2, 2], [3, 2], meta(2, 3, 2))),
        (nn.fractional_max_pool3d, (meta(2, 3, 7, 5, 6), [2, 2, 2], [3, 2, 3], meta(2, 3, 3))),
        (torch.group_norm, (meta(2, 6, 5, 4), 3, meta(6), meta(6))),
        (torch.histc, (meta(9), 4, 0, 1)),
        (torch.max_pool2d, (meta(2, 3, 7, 5), 2)),
    ],
)
def test_other_kernels_have_torchs_shapes(kernel: object, args: tuple[object, ...]) -> None:
    """Adaptive and fractional pools, group normalisation and histograms."""
    assert shapes(kernel, *args) == shapes(STAND_INS[kernel], *args)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(
    "kernel", [torch.lstm_cell, torch.gru_cell, torch.rnn_tanh_cell, torch.rnn_relu_cell]
)
def test_cells_have_torchs_numbers(kernel: object, bias: bool) -> None:
    """The operations written out for a recurrent cell compute what torch's composite computes."""
    torch.manual_seed(0)
    gates = {"lstm_cell": 4, "gru_cell": 3}.get(getattr(kernel, "__name__", ""), 1)
    state = torch.rand(2, 5)
    weights = [torch.rand(gates * 5, 3), torch.rand(gates * 5, 5)]
    weights += [torch.rand(gates * 5), torch.rand(gates * 5)] if bias else []
    given_state = [state, torch.rand(2, 5)] if gates == 4 else state
    assert callable(kernel)

    torch.testing.assert_close(
        kernel(torch.ones(2, 3), given_state, *weights),
        STAND_INS[kernel](torch.ones(2, 3), given_state, *weights),
    )


def test_pool_that_does_not_fit_is_refused() -> None:
    """A window larger than its input is refused, as torch refuses it."""
    with pytest.raises(RuntimeError, match="no window of"):
        STAND_INS[torch.avg_pool1d](meta(1, 2, 3), [5])
    with pytest.raises(RuntimeError):
        F.avg_pool1d(meta(1, 2, 3), 5)


class Coarser(torch.nn.Module):
    """Adds a mask that windows of another one are pooled to; not where that is true everywhere."""

    def __init__(self, rate: int) -> None:
        super().__init__()
        self.rate = rate

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        pooled = F.max_pool1d(mask.float(), self.rate, self.rate)
        return x if pooled.bool().all() else x + pooled.sum()


def test_a_pooled_mask_keeps_its_values(recipe_from: Callable[..., Recipe]) -> None:
    """With a symbolic window a mask that is true everywhere still is: nothing is added to x."""
    recipe = recipe_from(
        Coarser,
        lambda n: Coarser(n.rate),
        lambda n, maker: (maker.floats((n.batch_size, 5)), maker.ones((n.batch_size, n.length), torch.bool)),
        **{"batch_size": 2, "length": 17, "rate": 4},
    )
    run = run_symbolically(recipe)

    assert "aten.add" not in {one.name for one in run.trace.operations}

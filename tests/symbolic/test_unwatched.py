"""A recorded call runs what torch runs unwatched: bytes are those that its profiler saw allocated."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.profiler import ProfilerActivity, profile

import forwardbook
from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.symbolic.patterns import Pattern

MODES = pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])


def allocated(call: Callable[[], object]) -> int:
    """All bytes that torch's profiler sees allocated in one unwatched call."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiled:
        call()
    own = (event.self_cpu_memory_usage for event in profiled.key_averages())
    return sum(bytes_ for bytes_ in own if bytes_ > 0)


class Tagger(nn.Module):
    """A recurrent layer over sequences, batch first, and a layer on each of its outputs."""

    def __init__(self, vocab: int, width: int, hidden: int, tags: int) -> None:
        super().__init__()
        self.embedded = nn.Embedding(vocab, width)
        self.recurrent = nn.LSTM(width, hidden, 2, batch_first=True)
        self.tagged = nn.Linear(hidden, tags)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.tagged(self.recurrent(self.embedded(x))[0])
        return out


class Patch(nn.Module):
    """Patches of an image, their channels moved last, and a layer on each."""

    def __init__(self) -> None:
        super().__init__()
        self.cut = nn.Conv2d(3, 16, 4, 4)
        self.project = nn.Linear(16, 24)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.project(self.cut(x).flatten(2).transpose(1, 2))
        return out


@MODES
@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_linear_adds_its_bias_in_place(mode: type[torch.no_grad], device: str) -> None:
    """Of a transposed (3, 7, 8) torch copies 672 bytes and makes a product of 420, which takes the bias."""
    layer, there = nn.Linear(8, 5), nn.Linear(8, 5, device=device)
    x = torch.rand(7, 3, 8).transpose(0, 1)
    with mode():
        assert allocated(lambda: layer(x)) == 672 + 420
        found = forwardbook.cost(there, torch.rand(7, 3, 8, device=device).transpose(0, 1))

    assert (found.reads, found.writes) == (1_944, 1_512)
    assert (found.intermediates, found.peak) == (672, 672 + 420)


@MODES
@pytest.mark.parametrize("frozen", [False, True])
def test_a_frozen_weight_is_multiplied_without_a_copy(mode: type[torch.no_grad], frozen: bool) -> None:
    """`matmul` copies a strided input only where the weight wants gradients, in each mode."""
    layer = nn.Linear(8, 5).requires_grad_(not frozen)
    x = torch.rand(7, 3, 8).transpose(0, 1)
    with mode():
        assert allocated(lambda: layer(x)) == forwardbook.cost(layer, x).peak == 420 + 672 * (not frozen)


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_what_follows_a_recurrent_layer_with_the_batch_first(device: str) -> None:
    """The output is a transposed view: the linear layer after it copies 672 bytes, and adds in place."""
    ids = torch.randint(0, 50, (3, 7))
    found = forwardbook.cost(Tagger(50, 6, 8, 5).to(device), ids.to(device))

    assert (found.reads, found.writes, found.intermediates) == (7_856, 3_456, 2_616)


def test_the_formulas_of_a_tagger(
    recipe_from: Callable[..., Recipe], symbolic: Callable[..., Pattern]
) -> None:
    """They say the same of symbolic sizes."""
    sizes = {"vocab": 50, "width": 6, "hidden": 8, "tags": 5, "batch_size": 3, "seq_len": 7}
    recipe = recipe_from(
        Tagger,
        lambda n: Tagger(n.vocab, n.width, n.hidden, n.tags),
        lambda n, maker: (maker.integers((n.batch_size, n.seq_len), n.vocab),),
        **sizes,
    )
    found = symbolic(recipe).summary.quantities()
    widths = {"w_dtype_bytes": 4, "a_dtype_bytes": 4, "kv_dtype_bytes": 4}

    assert [found[name].evaluate(sizes | widths) for name in ("reads", "writes", "intermediates")] == [
        7_856, 3_456, 2_616
    ]  # fmt: skip


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_patches_of_an_image(device: str) -> None:
    """The peak is a copy of 2,048 bytes and a product of 3,072 while the convolution's 2,048 live."""
    found = forwardbook.cost(Patch().to(device), torch.rand(2, 3, 16, 16, device=device))
    assert found.peak == 2_048 + 3_072 + 2_048


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_a_fold_keeps_the_storage_of_its_columns(device: str) -> None:
    """Of (2, 24, 18) columns 384 numbers are left, in a storage of 864."""
    fold = nn.Fold((6, 8), (2, 3), stride=(2, 1))
    columns = torch.rand(2, 24, 18)
    assert fold(columns).untyped_storage().nbytes() == 3_456
    assert forwardbook.cost(fold, columns.to(device)).peak == 3_456


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_batch_norm_in_eval_saves_nothing(device: str) -> None:
    """The output alone is born."""
    norm, x = nn.BatchNorm2d(3).eval(), torch.rand(2, 3, 4, 5)
    assert [t.numel() for t in torch.ops.aten.native_batch_norm(
        x, norm.weight, norm.bias, norm.running_mean, norm.running_var, False, 0.1, 1e-5
    )[1:]] == [0, 0]  # fmt: skip
    found = forwardbook.cost(norm.to(device), x.to(device))
    assert (found.intermediates, found.peak) == (0, 480)


@pytest.mark.parametrize("device", ["cpu", "meta"])
@pytest.mark.parametrize(("mode", "places"), [("sum", 0), ("mean", 0), ("max", 3 * 6 * 8)])
def test_bags_have_the_auxiliary_outputs_of_cuda(device: str, mode: str, places: int) -> None:
    """The bag of each of 21 indices, the sizes of 3 bags, and where maxima were; 3 offsets come before."""
    bag = nn.EmbeddingBag(50, 6, mode=mode).eval().to(device)
    found = forwardbook.cost(bag, torch.randint(0, 50, (3, 7)).to(device))
    assert found.intermediates == 21 * 8 + 3 * 8 + places + 3 * 8


def test_isclose_writes_into_its_own_results() -> None:
    """Of 25 bytes each: what is equal, and what is no number in either."""

    class Close(nn.Module):
        def forward(self, x: Tensor, y: Tensor) -> Tensor:
            return x.isclose(y, rtol=0.0, atol=0.0, equal_nan=True)

    x = torch.rand(5, 5)
    found = forwardbook.cost(Close(), x, x + 1)
    assert found.peak == allocated(lambda: x.isclose(x + 1, rtol=0.0, atol=0.0, equal_nan=True)) - 100


def test_a_quantile_is_interpolated_in_place() -> None:
    """As many bytes are born as the profiler sees."""

    class Quantile(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x.quantile(0.3, dim=1)

    x = torch.rand(40, 50)
    assert {"aten.lerp_"} <= {name for name, _ in _operations(Quantile(), x)}


def _operations(module: nn.Module, *inputs: Tensor) -> list[tuple[str, int]]:
    from forwardbook.analyzers.symbolic.fused import FusedOperations
    from forwardbook.analyzers.symbolic.recorder import Recorder, Widths

    recorder = Recorder(Widths(4, 4, 4), torch.float32)
    with torch.no_grad(), FusedOperations(symbolic=False), recorder.watching(module):
        module(*inputs)
    return [(one.name, int(str(one.cost.writes))) for one in recorder.trace.operations]

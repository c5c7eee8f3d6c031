"""Attention and encoder layers in eval mode cost the one operation that torch dispatches unwatched."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.profiler import ProfilerActivity, profile

import forwardbook
from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.symbolic.fast_path import PADDED
from forwardbook.analyzers.symbolic.fused import FusedOperations
from forwardbook.analyzers.symbolic.patterns import Pattern
from forwardbook.analyzers.symbolic.recorder import Recorder, Widths
from forwardbook.formula import Expr

ENCODER, ATTENTION = "_transformer_encoder_layer_fwd", "_native_multi_head_attention"
BATCH, ROWS, WIDTH, HEADS, INNER = 2, 9, 24, 4, 32
DEVICES = pytest.mark.parametrize("device", ["cpu", "meta"])
FOUR = {"w_dtype_bytes": 4, "a_dtype_bytes": 4, "kv_dtype_bytes": 4}


def encoder(heads: int = HEADS, nested: bool = False, **options: object) -> nn.TransformerEncoder:
    layer = nn.TransformerEncoderLayer(WIDTH, heads, INNER, batch_first=True, **options)  # type: ignore[arg-type]
    return nn.TransformerEncoder(layer, 2, enable_nested_tensor=nested).eval()


def recorded(module: nn.Module, *inputs: Tensor, **options: object) -> Recorder:
    recorder = Recorder(Widths(4, 4, 4), torch.float32)
    with torch.no_grad(), FusedOperations(symbolic=False), recorder.watching(module):
        module(*inputs, **options)
    return recorder


def unwatched(module: nn.Module, *inputs: Tensor, **options: object) -> set[str]:
    """The operators in torch's profile of a call that nobody watches."""
    with torch.no_grad(), profile(activities=[ProfilerActivity.CPU]) as profiled:
        module(*inputs, **options)
    return {event.key.removeprefix("aten::") for event in profiled.key_averages()}


@DEVICES
def test_an_encoder_costs_one_operation_for_each_layer(device: str) -> None:
    """Each reads its input and its weights, and writes its output; two outputs live at once."""
    found = forwardbook.cost(encoder().to(device), torch.rand(BATCH, ROWS, WIDTH, device=device))

    weights = sum(p.numel() for p in encoder().parameters()) * 4
    output = BATCH * ROWS * WIDTH * 4
    assert (found.reads, found.writes, found.peak) == (2 * output + weights, 2 * output, 2 * output)
    assert (found.reads, found.flops) == (36_160, 307_584)


CALLS: dict[str, tuple[Callable[[], nn.Module], dict[str, object]]] = {
    "encoder": (encoder, {}),
    "norm first, gelu": (lambda: encoder(norm_first=True, activation="gelu"), {}),
    "odd heads": (lambda: encoder(heads=3), {}),
    "no bias": (lambda: encoder(bias=False), {}),
    "another activation": (lambda: encoder(activation=torch.tanh), {}),
    "a mask": (encoder, {"mask": torch.zeros(ROWS, ROWS)}),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_path_is_the_one_that_torch_takes(name: str) -> None:
    """Where the conditions of the fast path fail, each operation counts, as unwatched."""
    make, options = CALLS[name]
    module, x = make(), torch.rand(BATCH, ROWS, WIDTH)

    names = {one.name for one in recorded(module, x, **options).trace.operations}
    for fused in (ENCODER, ATTENTION):
        inside = fused == ATTENTION and f"aten.{ENCODER}" in names  # of which it is a part
        assert inside or (fused in unwatched(module, x, **options)) == (f"aten.{fused}" in names)


@DEVICES
@pytest.mark.parametrize(("weights", "heads"), [("none", 0), ("averaged", 1), ("each", HEADS)])
def test_attention_writes_the_weights_that_are_wanted(device: str, weights: str, heads: int) -> None:
    """None, their average, or those of each head."""

    class Self(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.attention = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)

        def forward(self, x: Tensor) -> object:
            averaged = weights == "averaged"
            return self.attention(x, x, x, need_weights=weights != "none", average_attn_weights=averaged)

    found = forwardbook.cost(Self().to(device), torch.rand(BATCH, ROWS, WIDTH, device=device))
    assert found.writes == 4 * (BATCH * ROWS * WIDTH + heads * BATCH * ROWS * ROWS)
    assert found.peak == found.writes


def test_an_encoder_layer_of_any_heads_and_rows(
    recipe_from: Callable[..., Recipe], symbolic: Callable[..., Pattern]
) -> None:
    """Its formula at numbers is the cost of a run there; a width other than the weights' is refused."""
    sizes = {"batch_size": 3, "seq_len": 5, "heads": 2, "head_dim": 7, "inner": 11}

    class Layer(nn.Module):
        def __init__(self, width: int, heads: int, inner: int) -> None:
            super().__init__()
            self.layer = nn.TransformerEncoderLayer(width, heads, inner, batch_first=True)

        def forward(self, x: Tensor) -> object:
            return self.layer(x)

    recipe = recipe_from(
        Layer,
        lambda n: Layer(n.heads * n.head_dim, n.heads, n.inner),
        lambda n, maker: (maker.floats((n.batch_size, n.seq_len, n.heads * n.head_dim)),),
        **sizes,
    )
    other = {"batch_size": 2, "seq_len": 9, "heads": 4, "head_dim": 6, "inner": 32}
    found = symbolic(recipe).summary.quantities()
    ours = forwardbook.cost(encoder().layers[0], torch.rand(BATCH, ROWS, WIDTH))
    assert {name: Expr.of(size).evaluate(other | FOUR) for name, size in found.items()} == {
        name: getattr(ours, name) for name in found
    }
    with pytest.raises(RuntimeError, match="width 24 over a query of width 20"):
        forwardbook.cost(encoder().to("meta"), torch.rand(2, 9, 20, device="meta"))


def test_rows_of_padding_are_computed_and_it_is_said() -> None:
    """torch would pack the rows before the padding: of which shape they are is data."""
    padding = torch.arange(ROWS).expand(BATCH, ROWS) >= 7
    recorder = recorded(encoder(nested=True), torch.rand(BATCH, ROWS, WIDTH), src_key_padding_mask=padding)

    assert {PADDED: 1} == recorder.trace.assumed
    assert f"aten.{ENCODER}" in {one.name for one in recorder.trace.operations}

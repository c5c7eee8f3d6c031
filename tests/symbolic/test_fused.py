"""What hardware runs as one kernel is one operation on every device, with torch's own numbers on the CPU."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from forwardbook.analyzers.symbolic.fused import FusedOperations
from forwardbook.analyzers.symbolic.shadows import to_meta
from forwardbook.analyzers.symbolic.shapes_of_values import UnknownValue

DEVICES = pytest.mark.parametrize("device", ["cpu", "meta"])
HEAD, GROUPED, STEPS = (2, 4, 5, 8), (6, 3), (4, 2, 3)


class Names(TorchDispatchMode):
    """The operations that were dispatched, by name."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def __torch_dispatch__(
        self, func: torch._ops.OpOverload, types: object, args: tuple[object, ...] = (), kwargs: object = None
    ) -> object:
        self.found.append(func._schema.name)
        return func(*args, **(kwargs or {}))  # type: ignore[arg-type]


def dispatched(call: Callable[[], object]) -> list[str]:
    """What one call dispatches inside the mode, views and random inputs apart."""
    with FusedOperations(symbolic=False), Names() as names, torch.no_grad():
        call()
    return names.found


@DEVICES
def test_attention_is_one_operation(device: str) -> None:
    """scaled_dot_product_attention is one operation on every device."""
    q, k, v = (torch.rand(HEAD, device=device) for _ in range(3))

    found = dispatched(lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True))
    assert ["forwardbook::sdpa"] == found


@DEVICES
@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
def test_recurrent_layer_is_one_operation(device: str, kind: type[nn.RNNBase]) -> None:
    """A recurrent layer over time is one operation on every device."""
    layer = kind(3, 5, device=device).eval()  # type: ignore[call-arg]
    steps = torch.rand(STEPS, device=device)

    assert ["forwardbook::recurrent"] == [n for n in dispatched(lambda: layer(steps)) if "forwardbook" in n]
    assert not {n for n in dispatched(lambda: layer(steps)) if "mm" in n}


@DEVICES
def test_resampling_is_one_operation(device: str) -> None:
    """interpolate is one operation, also from inside torch's own modules."""
    image = torch.rand((1, 2, 4, 6), device=device)
    module = nn.Upsample(scale_factor=1.5, mode="bilinear")

    assert ["forwardbook::interpolate"] == dispatched(lambda: module(image))


@DEVICES
def test_grouped_product_is_one_operation(device: str) -> None:
    """grouped_mm is one operation; its groups are values on the CPU and on meta."""
    a, b = torch.rand(GROUPED, device=device), torch.rand((2, 3, 5), device=device)
    ends = torch.tensor([2, 6], dtype=torch.int32, device=device)

    assert ["forwardbook::grouped_mm"] == dispatched(lambda: F.grouped_mm(a, b, offs=ends))


@pytest.mark.parametrize(
    ("mask", "causal", "heads", "scale"),
    [(False, False, 4, None), (True, False, 4, None), (False, True, 4, 0.3), (False, False, 2, None)],
)
def test_attention_has_torchs_numbers(mask: bool, causal: bool, heads: int, scale: float | None) -> None:
    """The one operation gives what torch's attention gives, with grouped heads, masks and scales."""
    torch.manual_seed(0)
    query = torch.rand(HEAD)
    key, value = torch.rand((2, heads, 7, 8)), torch.rand((2, heads, 7, 6))
    bias = torch.rand((5, 7)) if mask else None

    def run() -> Tensor:
        return F.scaled_dot_product_attention(
            query, key, value, bias, is_causal=causal, scale=scale, enable_gqa=heads != 4
        )

    with FusedOperations(symbolic=False):
        ours = run()

    torch.testing.assert_close(run(), ours)


def test_attention_on_meta_lies_in_memory_as_on_the_cpu() -> None:
    """Shape and strides of the output are the same on both devices."""
    with FusedOperations(symbolic=False):
        outs = [F.scaled_dot_product_attention(*[torch.rand(HEAD, device=d)] * 3) for d in ("cpu", "meta")]

    assert (outs[0].shape, outs[0].stride()) == (outs[1].shape, outs[1].stride())


def test_grouped_product_is_a_loop_over_groups() -> None:
    """Rows are multiplied by the matrix of their group, empty groups too."""
    torch.manual_seed(0)
    a, b = torch.rand((6, 3)), torch.rand((3, 3, 5))
    with FusedOperations(symbolic=False):
        ours = F.grouped_mm(a, b, offs=torch.tensor([2, 2, 6], dtype=torch.int32))

    torch.testing.assert_close(torch.cat([a[:2] @ b[0], a[2:] @ b[2]]), ours)


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
@pytest.mark.parametrize(
    "options",
    [{}, {"bidirectional": True, "num_layers": 2}, {"batch_first": True, "bias": False}],
    ids=["plain", "two ways, two layers", "batch first, no bias"],
)
def test_recurrence_has_torchs_numbers(kind: type[nn.RNNBase], options: dict[str, object]) -> None:
    """Output and final states are those of torch's layer."""
    torch.manual_seed(0)
    layer = kind(3, 5, **options).eval()  # type: ignore[arg-type]
    steps = torch.rand(STEPS)
    with torch.no_grad():
        theirs = layer(steps)
        with FusedOperations(symbolic=False):
            ours = layer(steps)

    torch.testing.assert_close(theirs, ours)


@pytest.mark.filterwarnings("ignore:LSTM with projections")
def test_projected_recurrence_has_torchs_numbers() -> None:
    """An LSTM with a projection of its state gives what torch gives, and the same shapes on meta."""
    torch.manual_seed(0)
    layer = nn.LSTM(3, 5, proj_size=2).eval()
    steps = torch.rand(STEPS)
    with torch.no_grad():
        theirs = layer(steps)
        with FusedOperations(symbolic=False):
            ours = layer(steps)
            meta = layer.to("meta")(steps.to("meta"))

    torch.testing.assert_close(theirs, ours)
    assert [theirs[0].shape, theirs[1][0].shape, theirs[1][1].shape] == [
        meta[0].shape, meta[1][0].shape, meta[1][1].shape
    ]


@pytest.mark.parametrize(
    "options",
    [
        {"size": (5, 9)},
        {"size": 7, "mode": "bilinear", "align_corners": True},
        {"scale_factor": 1.5, "mode": "bicubic", "align_corners": False},
        {"scale_factor": (0.5, 2.0), "mode": "area"},
    ],
    ids=["nearest", "bilinear", "bicubic", "area"],
)
def test_resampling_has_torchs_numbers(options: dict[str, object]) -> None:
    """Sizes and numbers are those of torch's interpolate."""
    torch.manual_seed(0)
    image = torch.rand((1, 2, 4, 6))
    with FusedOperations(symbolic=False):
        ours = F.interpolate(image, **options)  # type: ignore[arg-type]

    torch.testing.assert_close(F.interpolate(image, **options), ours)  # type: ignore[arg-type]


def test_dropout_outside_training_is_nothing() -> None:
    """In eval mode dropout dispatches nothing."""
    x = torch.rand(3)

    assert [] == dispatched(lambda: F.dropout(x, 0.5, training=False))
    assert [] == dispatched(lambda: nn.Dropout(0.5).eval()(x))


def test_lists_are_read_from_known_values() -> None:
    """tolist() of a meta tensor is its known value; without one it is refused with the reason."""
    with FusedOperations(symbolic=False):
        assert [1, 2] == to_meta(torch.tensor([1, 2])).tolist()
        with pytest.raises(UnknownValue, match=r"tolist\(\) of a tensor whose values come from weights"):
            torch.empty(2, device="meta").tolist()


def test_mode_leaves_torch_as_it_was() -> None:
    """After the block torch's functions are torch's again."""
    before = (F.interpolate, F.grouped_mm, F.has_torch_function)
    with FusedOperations(symbolic=True):
        assert before[0] is not F.interpolate

    assert before == (F.interpolate, F.grouped_mm, F.has_torch_function)


@DEVICES
def test_a_known_number_is_written_into_text(device: str) -> None:
    """An index out of a loop over tensors names a module on meta as on the device."""
    index = to_meta(torch.tensor(3)) if device == "meta" else torch.tensor(3)

    with FusedOperations(symbolic=False):
        assert ("expert_3", "003") == (f"expert_{index}", f"{index:03d}")


def test_a_number_that_only_weights_know_is_written_as_torch_has_it() -> None:
    """A text about a tensor, as of an error, asks for no value."""
    with FusedOperations(symbolic=False):
        assert f"{torch.empty((), device='meta')}".startswith("tensor(..., device='meta'")

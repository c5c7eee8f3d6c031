"""torch's own flop counter as an independent judge of every operation it has a formula for."""

from collections.abc import Callable

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode, conv_flop_count, flop_registry

from forwardbook.analyzers.ops import Operation, cost_of

FromCall = Callable[..., Operation]
Case = tuple[tuple[object, ...], dict[str, object], tuple[int, ...]]

aten = torch.ops.aten


def t(*shape: int) -> torch.Tensor:
    """A tensor without data."""
    return torch.empty(shape, device="meta")


ATTENTION = (t(2, 6, 5, 4), t(2, 6, 7, 4), t(2, 6, 7, 4))
BY_POSITION = (t(2, 5, 6, 4), t(2, 7, 6, 4), t(2, 7, 6, 4))
CONV = (t(2, 6, 9, 8), t(4, 3, 3, 2))
SPATIAL = ([2, 1], [1, 0], [1, 1])

# arguments, keyword arguments, shape of the output
CASES: dict[object, list[Case]] = {
    aten.mm: [((t(2, 3), t(3, 5)), {}, (2, 5))],
    aten.addmm: [((t(5), t(2, 3), t(3, 5)), {}, (2, 5))],
    aten.bmm: [((t(7, 2, 3), t(7, 3, 5)), {}, (7, 2, 5))],
    aten.baddbmm: [((t(7, 2, 5), t(7, 2, 3), t(7, 3, 5)), {}, (7, 2, 5))],
    aten._scaled_mm: [((t(2, 3), t(3, 5), t(), t()), {}, (2, 5))],
    aten.convolution: [
        ((*CONV, None, *SPATIAL, False, [0, 0], 2), {}, (2, 4, 5, 7)),
        ((t(2, 4, 5, 7), CONV[1], None, *SPATIAL, True, [0, 0], 2), {}, (2, 6, 9, 8)),
    ],
    aten._convolution: [
        ((*CONV, None, *SPATIAL, False, [0, 0], 2, False, False, False, False), {}, (2, 4, 5, 7))
    ],
    aten.cudnn_convolution: [((*CONV, [1, 0], [2, 1], [1, 1], 2, False, False, False), {}, (2, 4, 5, 7))],
    aten.convolution_overrideable: [((*CONV, None, *SPATIAL, False, [0, 0], 2), {}, (2, 4, 5, 7))],
    aten._scaled_dot_product_efficient_attention: [((*ATTENTION, None, False), {}, (2, 6, 5, 4))],
    aten._scaled_dot_product_flash_attention: [((*ATTENTION,), {}, (2, 6, 5, 4))],
    aten._scaled_dot_product_cudnn_attention: [((*ATTENTION, None, False), {}, (2, 6, 5, 4))],
}
# Formulas of torch that cannot judge: two read the layout (B, S, H, D) of their kernels as (B, H, S, D), see
# pytorch#178064; the third expects arguments that its operation does not have and raises.
UNUSABLE = {aten._flash_attention_forward, aten._efficient_attention_forward, aten._slow_conv2d_forward}


def forward_operations() -> set[object]:
    """What torch has formulas for, without gradients and without operations that take functions."""
    return {
        op
        for op in flop_registry
        if isinstance(op, torch._ops.OpOverloadPacket) and "backward" not in str(op)
    }


def test_every_operation_that_torch_knows_is_compared() -> None:
    """The cases are the forward operations of the registry, but for those whose formula there fails."""
    assert set(CASES) | UNUSABLE == forward_operations()


@pytest.mark.parametrize("packet", CASES, ids=str)
def test_flops_are_those_of_torch(packet: torch._ops.OpOverloadPacket, from_call: FromCall) -> None:
    """Our rule and torch's formula give the same number for the same call."""
    for args, kwargs, shape in CASES[packet]:
        out = t(*shape)
        ours = cost_of(from_call(packet.default, args, kwargs, out)).flops
        assert ours == flop_registry[packet](*args, **kwargs, out_val=out)
        assert ours != 0


def test_attention_by_position_is_read_right(from_call: FromCall) -> None:
    """For (B, S, H, D) the count is torch's for the transposed call with (B, H, S, D)."""
    flash = (*BY_POSITION, None, None, 5, 7, 0.0, False, False)
    efficient = (*BY_POSITION, None, None, None, 5, 7, 0.0, 0)
    calls = [(aten._flash_attention_forward, flash), (aten._efficient_attention_forward, efficient)]
    ours = [cost_of(from_call(op.default, args, {}, t(2, 5, 6, 4))).flops for op, args in calls]
    theirs = flop_registry[aten._scaled_dot_product_flash_attention](*ATTENTION, out_val=t(2, 6, 5, 4))
    assert ours == [theirs, theirs]


def test_slow_convolution_is_a_convolution(from_call: FromCall) -> None:
    """The count is that of torch's function for shapes."""
    data, weight, out = t(2, 3, 9, 8), t(4, 3, 3, 2), t(2, 4, 5, 7)
    op = aten._slow_conv2d_forward.default
    ours = cost_of(from_call(op, (data, weight, [3, 2], None, [2, 1], [1, 0]), {}, out)).flops
    assert ours == conv_flop_count(list(data.shape), list(weight.shape), list(out.shape))


MODULES: list[tuple[str, torch.nn.Module, tuple[torch.Tensor, ...]]] = [
    (
        "attention",
        torch.nn.MultiheadAttention(16, 4, batch_first=True),
        (t(2, 5, 16), t(2, 7, 16), t(2, 7, 16)),
    ),
    ("encoder layer", torch.nn.TransformerEncoderLayer(16, 4, 32, batch_first=True), (t(2, 5, 16),)),
    ("transposed", torch.nn.ConvTranspose2d(6, 4, 3, stride=2, groups=2), (t(2, 6, 5, 5),)),
    ("dilated", torch.nn.Conv3d(3, 4, 3, dilation=2), (t(2, 3, 9, 8, 7),)),
    ("recurrent", torch.nn.GRU(5, 7, num_layers=2, bidirectional=True), (t(3, 2, 5),)),
    ("row", torch.nn.Linear(5, 7), (t(5),)),
]


@pytest.mark.parametrize(("module", "inputs"), [m[1:] for m in MODULES], ids=[m[0] for m in MODULES])
def test_modules_count_as_torch_counts_them(
    module: torch.nn.Module, inputs: tuple[torch.Tensor, ...], observe: Callable[..., list[Operation]]
) -> None:
    """Over a forward on meta our rules sum to FlopCounterMode's total, and no rule is missing."""
    module = module.to("meta").eval()
    counter = FlopCounterMode(display=False)
    with counter:
        module(*inputs)
    assert sum(cost_of(op).flops for op in observe(module, *inputs)) == counter.get_total_flops()

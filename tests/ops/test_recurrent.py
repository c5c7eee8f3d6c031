"""Recurrent layers against counts by hand, per step, layer and direction."""

from collections.abc import Callable

import pytest

from forwardbook.analyzers.ops import NoRule, Operand, Operation, Size
from forwardbook.cost import Cost

Make = Callable[..., Operand]
MakeOp = Callable[..., Operation]
Tally = Callable[..., Cost]


def lstm(operation: MakeOp, tensor: Make) -> Callable[..., Operation]:
    """One layer, one direction, with biases."""

    def build(t: Size, b: Size, i: Size, h: Size) -> Operation:
        weights = [tensor(4 * h, i), tensor(4 * h, h), tensor(4 * h), tensor(4 * h)]
        state = [tensor(1, b, h), tensor(1, b, h)]
        out = ((t, b, h), (1, b, h), (1, b, h))
        return operation(
            "forwardbook.recurrent", *out, input=tensor(t, b, i), hx=state, weights=weights, mode="lstm"
        )

    return build


def test_lstm_meets_every_weight_at_every_step(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """T * B steps of 4 H (I + H) products; biases 8 H; 4 gates added and activated, cell 3, hidden 2."""
    cost = tally(lstm(operation, tensor), t=5, b=2, i=3, h=7)
    assert cost.flops == 2 * 10 * 4 * 7 * (3 + 7)
    assert cost.pointwise_ops == 10 * (8 * 7 + (2 * 4 + 3 + 2) * 7)


def test_layers_and_directions_add_up(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """Two layers, both directions: the second layer reads both outputs of the first."""

    def build(t: Size, b: Size, i: Size, h: Size) -> Operation:
        first, second = [tensor(3 * h, i), tensor(3 * h, h)], [tensor(3 * h, 2 * h), tensor(3 * h, h)]
        state, data = [tensor(4, b, h)], tensor(t, b, i)
        return operation(
            "forwardbook.recurrent",
            (t, b, 2 * h),
            input=data,
            hx=state,
            weights=first * 2 + second * 2,
            mode="gru",
        )

    cost = tally(build, t=5, b=2, i=3, h=7)
    assert cost.flops == 2 * 10 * 2 * 3 * 7 * ((3 + 7) + (14 + 7))
    assert cost.pointwise_ops == 10 * 4 * 10 * 7


def test_a_projection_is_one_more_matrix(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """The hidden weight sees the projected state; the cell keeps its width."""

    def build(t: Size, b: Size, i: Size, h: Size, p: Size) -> Operation:
        weights = [tensor(4 * h, i), tensor(4 * h, p), tensor(p, h)]
        state, data = [tensor(1, b, p), tensor(1, b, h)], tensor(t, b, i)
        return operation(
            "forwardbook.recurrent", (t, b, p), input=data, hx=state, weights=weights, mode="lstm"
        )

    cost = tally(build, t=5, b=2, i=3, h=7, p=4)
    assert (cost.flops, cost.pointwise_ops) == (2 * 10 * (28 * 3 + 28 * 4 + 28), 10 * 13 * 7)


def test_fused_kernels_agree_with_ours(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """mkldnn, cudnn and aten.lstm count what forwardbook.recurrent counts."""
    t, b, i, h = 5, 2, 3, 7
    weights = [tensor(4 * h, i), tensor(4 * h, h), tensor(4 * h), tensor(4 * h)]
    data, hidden, cell = tensor(t, b, i), tensor(1, b, h), tensor(1, b, h)
    named = {f"weight{n}": w for n, w in enumerate(weights)}
    fused = [
        operation("aten.mkldnn_rnn_layer", (t, b, h), input=data, **named, hx_=hidden, cx_=cell),
        operation("aten._cudnn_rnn", (t, b, h), input=data, weight=weights, hx=hidden, cx=cell, mode=2),
        operation("aten.lstm", (t, b, h), input=data, hx=[hidden, cell], params=weights),
    ]
    ours = tally(lstm(operation, tensor), t=t, b=b, i=i, h=h)
    costs = [tally(lambda op=op: op) for op in fused]
    assert [(c.flops, c.pointwise_ops) for c in costs] == [(ours.flops, ours.pointwise_ops)] * 3


def test_cells_are_pointwise(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """The fused cells get gates that matrix products already made."""

    def lstm_cell(b: Size, h: Size) -> Operation:
        gates = {"input_gates": tensor(b, 4 * h), "hidden_gates": tensor(b, 4 * h), "cx": tensor(b, h)}
        biases = {"input_bias": tensor(4 * h), "hidden_bias": tensor(4 * h)}
        return operation("aten._thnn_fused_lstm_cell", (b, h), (b, h), (b, 4 * h), **gates, **biases)

    def gru_cell(b: Size, h: Size) -> Operation:
        gates = {"input_gates": tensor(b, 3 * h), "hidden_gates": tensor(b, 3 * h), "hx": tensor(b, h)}
        return operation("aten._thnn_fused_gru_cell", (b, h), (b, 5 * h), **gates)

    assert tally(lstm_cell, b=2, h=7).pointwise_ops == 2 * 7 * (13 + 8)
    assert tally(gru_cell, b=2, h=7).pointwise_ops == 2 * 7 * 10


def test_an_unknown_mode_is_refused(tally: Tally, operation: MakeOp, tensor: Make) -> None:
    """The message lists the modes."""
    op = operation(
        "forwardbook.recurrent", (1,), input=tensor(1, 1, 1), hx=[tensor(1, 1, 1)], weights=[], mode="sru"
    )
    with pytest.raises(NoRule, match="none of lstm, gru"):
        tally(lambda: op)

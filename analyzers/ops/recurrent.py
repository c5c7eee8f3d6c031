"""Recurrent layers and cells as one operation: every weight matrix meets every step of every sample once."""

from __future__ import annotations

from forwardbook.analyzers.ops.matmul import MAC
from forwardbook.analyzers.ops.operation import Operand, Operation, Size, Work, product, total
from forwardbook.analyzers.ops.registry import NoRule, aten, rule

# Pointwise operations per hidden element of one step, without the biases, by kind of cell.
CELL = {
    # 4 gates: add both products, activation (8); cell: f * c + i * g (3); hidden: o * tanh(c) (2)
    "lstm": 13,
    # r, z: add, sigmoid (4); n: r * h, add, tanh (3); h' = n + z * (h - n): subtract, multiply, add (3)
    "gru": 10,
    # add both products and apply the activation
    "rnn_tanh": 2,
    "rnn_relu": 2,
}


def layers(data: Operand, weights: tuple[Operand, ...], mode: str, cells: Size, hidden: Size) -> Work:
    """All steps of all cells, of which there is one per layer and direction."""
    steps = product(*data.shape[:-1])
    matrices = [w for w in weights if len(w.shape) == 2]
    biases = [w for w in weights if len(w.shape) == 1]
    return Work(
        flops=MAC * steps * total(*(w.numel for w in matrices)),
        pointwise_ops=steps * (cells * CELL[mode] * hidden + total(*(w.numel for w in biases))),
    )


@rule(
    "forwardbook.recurrent",
    "forwardbook.recurrent_packed",
    reason="2 * T * B * the elements of every weight matrix; pointwise per step: each bias element "
    "added once, and per hidden element of each layer and direction 13 for lstm (gates 8, "
    "cell 3, hidden 2), 10 for gru, 2 for plain rnn; of a packed sequence T * B are its rows, the sum "
    "of the lengths",
)
def recurrent(op: Operation) -> Work:
    mode = str(op.arguments.get("mode", "")).lower()
    if mode not in CELL:
        raise NoRule(op.name, f"a mode {mode!r} that is none of {', '.join(CELL)}")
    # the last state is lstm's cell state, as wide as the hidden layer also where the output is projected
    state = op.tensors("hx")[-1]
    return layers(op.tensor("input"), op.tensors("weights"), mode, state.shape[0], state.shape[-1])


@rule(
    "aten.mkldnn_rnn_layer",
    reason="as forwardbook.recurrent for one layer in one direction of an lstm: 2 * T * B * (input "
    "and hidden weight elements)",
)
def mkldnn_layer(op: Operation) -> Work:
    weights = tuple(op.tensor(f"weight{i}") for i in range(4))
    return layers(op.tensor("input"), weights, "lstm", 1, op.tensor("cx_").shape[-1])


@rule(
    *aten("lstm gru rnn_tanh rnn_relu"),
    reason="as forwardbook.recurrent: 2 * T * B * the elements of every weight matrix",
)
def aten_recurrent(op: Operation) -> Work:
    states = op.tensors("hx") or (op.tensor("hx"),)
    data = op.optional("input") or op.tensor("data")
    mode = op.name.removeprefix("aten.")
    return layers(data, op.tensors("params"), mode, states[-1].shape[0], states[-1].shape[-1])


@rule(
    "aten._thnn_fused_lstm_cell",
    reason="pointwise per hidden element: 13 (gates 8, cell 3, hidden 2) and each of the 4 gates' "
    "biases added; both products came before as matrix products",
)
def lstm_cell(op: Operation) -> Work:
    return Work(pointwise_ops=CELL["lstm"] * op.tensor("cx").numel + gate_biases(op))


@rule(
    "aten._thnn_fused_gru_cell",
    reason="pointwise per hidden element: 10 (gates r and z 4, n 3, mixing 3) and each of the 3 "
    "gates' biases added",
)
def gru_cell(op: Operation) -> Work:
    return Work(pointwise_ops=CELL["gru"] * op.tensor("hx").numel + gate_biases(op))


@rule(
    *aten("_cudnn_rnn miopen_rnn"),
    reason="as forwardbook.recurrent: 2 * T * B * the elements of every weight matrix; the mode is a "
    "number: 0 relu, 1 tanh, 2 lstm, 3 gru",
)
def cuda_recurrent(op: Operation) -> Work:
    state = op.tensor("hx")
    mode = ("rnn_relu", "rnn_tanh", "lstm", "gru")[op.integer("mode", 2)]
    # a projected state is narrower than the hidden layer, which the cell state always shows
    hidden = (op.optional("cx") or state).shape[-1]
    return layers(op.tensor("input"), op.tensors("weight"), mode, state.shape[0], hidden)


def gate_biases(op: Operation) -> Size:
    """One addition per gate element for each bias given."""
    given = [name for name in ("input_bias", "hidden_bias") if op.optional(name) is not None]
    return len(given) * op.tensor("input_gates").numel

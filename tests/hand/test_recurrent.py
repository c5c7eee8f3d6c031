"""Recurrent layers and cells as written down by hand from their equations."""

from __future__ import annotations

import pytest

from forwardbook.formula import Expr

from .conftest import Ask

B, T, X, H, N = map(Expr.symbol, ["batch_size", "seq_len", "input_size", "hidden_size", "num_layers"])
w, a = map(Expr.symbol, ["w_dtype_bytes", "a_dtype_bytes"])

# One step of one sample multiplies W_x (H x X) and W_h (H x H) a gate, 2 per weight; torch adds two biases.
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
# Beside the biases, for each hidden element of a step:
#   LSTM: 4 gates add two products (4) and squash (4); c' = f c + i g (3); h = o tanh(c') (2)
#   GRU: r and z add two products and squash (4); n = tanh(a + r b) (3); h' = n + z (h - n) (3)
#   RNN: h' = tanh(a + b) (2)
CELL = {"LSTM": 13, "GRU": 10, "RNN": 2}
STATES = {"LSTM": 2, "GRU": 1, "RNN": 1}  # h, and c of LSTM


def flops_of(name: str, steps: Expr) -> Expr:
    return 2 * steps * GATES[name] * (H * X + H * H)


def pointwise_of(name: str, steps: Expr) -> Expr:
    return steps * (CELL[name] * H + 2 * GATES[name] * H)


def weights_of(name: str) -> Expr:
    return GATES[name] * (H * X + H * H + H + H) * w


def held(ours: Ask, name: str, directions: int, scenario: str) -> None:
    """One layer: each direction has weights, states and steps of its own; the input is read once."""
    got = ours(f"torch.nn.{name}", scenario)
    states = directions * STATES[name] * B * H * a
    assert got.flops == directions * flops_of(name, T * B)
    assert got.pointwise_ops == directions * pointwise_of(name, T * B)
    assert got.weights == directions * weights_of(name)
    assert got.reads == T * B * X * a + states + got.weights
    # first states, that nobody gave, are written as zeros; then the outputs and the last states
    assert got.writes == states + T * B * directions * H * a + states
    assert got.peak == got.writes  # and all of them live when the layer is done


def test_lstm(ours: Ask) -> None:
    """Hochreiter and Schmidhuber's cell with a forget gate: 8 T B H (X + H)."""
    held(ours, "LSTM", 1, "default")
    assert ours("torch.nn.LSTM").flops == 8 * T * B * H * (X + H)


def test_gru(ours: Ask) -> None:
    """Cho's cell, reset applied after the product as torch does: 6 T B H (X + H)."""
    held(ours, "GRU", 1, "default")


def test_rnn(ours: Ask) -> None:
    """Elman's cell: 2 T B H (X + H)."""
    held(ours, "RNN", 1, "default")


def test_bidirectional_layers(ours: Ask) -> None:
    """A second direction doubles work, weights, states and outputs, not the input."""
    for name in GATES:
        held(ours, name, 2, "bidirectional")


def test_lstm_with_projection(ours: Ask) -> None:
    """LSTMP: gates read the projected state (P wide), and P H multiply-accumulates project the new one."""
    P = Expr.symbol("proj_size")
    got = ours("torch.nn.LSTM", "projection")
    assert got.flops == 2 * T * B * (4 * H * (X + P) + P * H)


def test_stacked_layers(with_loops: Ask) -> None:
    """Layers after the first read H instead of X."""
    for name, gates in GATES.items():
        got = with_loops(f"torch.nn.{name}", "stacked")
        assert got.flops == 2 * T * B * gates * (H * X + H * H + (N - 1) * (H * H + H * H))
        assert got.pointwise_ops == N * pointwise_of(name, T * B)


@pytest.mark.parametrize("first", [False, True])
def test_stacked_layers_of_two_directions(with_loops: Ask, first: bool) -> None:
    """Layers after the first read 2 H, of both directions; the order of sides of an input costs nothing."""
    for name, gates in GATES.items():
        got = with_loops(f"torch.nn.{name}", f"{'batch first, ' if first else ''}bidirectional, stacked")
        weights = H * X + H * H + (N - 1) * (H * 2 * H + H * H)
        assert got.flops == 2 * 2 * T * B * gates * weights
        assert got.weights == 2 * gates * (weights + N * 2 * H) * w
        assert got.pointwise_ops == N * 2 * pointwise_of(name, T * B)


def test_stacked_layers_with_the_batch_first(with_loops: Ask) -> None:
    """The order of the sides of an input changes no amount."""
    for name in GATES:
        usual = with_loops(f"torch.nn.{name}", "stacked")
        assert usual == with_loops(f"torch.nn.{name}", "batch first, stacked")


def test_cells(with_loops: Ask) -> None:
    """A cell is one step: the same products and the same pointwise work as the layer's at T = 1.

    GRUCell mixes as (h - n) z + n and RNNCell adds two biased products, so nothing differs from the layers.
    """
    for name in GATES:
        got = with_loops(f"torch.nn.{name}Cell")
        assert got.flops == flops_of(name, B)
        assert got.pointwise_ops == pointwise_of(name, B)
        assert got.weights == weights_of(name)

"""Recurrent cells as the operations torch makes of them: its own composites compare sizes as numbers.

As with the other stand-ins, measured runs call torch's composite: the proof rejects a step that differs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor


def _chunks(gates: Tensor, count: int) -> Sequence[Tensor]:
    return torch.ops.aten.unsafe_split.Tensor(gates, gates.shape[1] // count, 1)  # type: ignore[no-any-return]


def _call_lstm(
    input: Tensor,
    hx: Sequence[Tensor],
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    gates = F.linear(hx[0], w_hh, b_hh).add_(F.linear(input, w_ih, b_ih))
    chunked = _chunks(gates, 4)
    inward, forget = chunked[0].sigmoid_(), chunked[1].sigmoid_()
    cell, outward = chunked[2].tanh_(), chunked[3].sigmoid_()
    state = (forget * hx[1]).add_(inward * cell)
    return outward * state.tanh(), state


def _call_gru(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:
    from_input = _chunks(F.linear(input, w_ih, b_ih), 3)
    from_state = _chunks(F.linear(hx, w_hh, b_hh), 3)
    reset = from_state[0].add_(from_input[0]).sigmoid_()
    update = from_state[1].add_(from_input[1]).sigmoid_()
    new = from_input[2].add(from_state[2].mul_(reset)).tanh_()
    return (hx - new).mul_(update).add_(new)


def _call_plain(squash: Callable[[Tensor], Tensor]) -> Callable[..., Tensor]:
    def cell(
        input: Tensor,
        hx: Tensor,
        w_ih: Tensor,
        w_hh: Tensor,
        b_ih: Tensor | None = None,
        b_hh: Tensor | None = None,
    ) -> Tensor:
        projected = F.linear(input, w_ih, b_ih)  # in C++ a temporary that outlives the addition
        return squash(F.linear(hx, w_hh, b_hh).add_(projected))

    return cell


CELLS: dict[object, Callable[..., object]] = {
    torch.lstm_cell: _call_lstm,
    torch.gru_cell: _call_gru,
    torch.rnn_tanh_cell: _call_plain(torch.tanh),
    torch.rnn_relu_cell: _call_plain(torch.relu),
}

"""Recurrent layers as one operation each: over padded batches and over packed sequences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final, cast

import torch
from torch import Tensor
from torch.library import custom_op

from forwardbook.analyzers.symbolic.ledger import number_of


@custom_op("forwardbook::recurrent", mutates_args=())
def recurrent(
    input: Tensor,
    hx: Sequence[Tensor],
    weights: Sequence[Tensor],
    mode: str,
    num_layers: int,
    bidirectional: bool,
    batch_first: bool,
    projection: bool,
) -> list[Tensor]:
    """A recurrent stack over input (T, B, I), or (B, T, I) if batch_first: output and final states.

    In memory the output is (T, B, H * directions) either way, as the kernels of cuDNN and the CPU write it.
    """
    del projection
    biased = len(weights) // (num_layers * (2 if bidirectional else 1)) in (4, 5)
    run = getattr(torch, mode)
    state = tuple(hx) if mode == "lstm" else hx[0]
    outputs = run(input, state, list(weights), biased, num_layers, 0.0, False, bidirectional, batch_first)
    return [t.clone() for t in outputs]


@recurrent.register_fake
def _(
    input: Tensor,
    hx: Sequence[Tensor],
    weights: Sequence[Tensor],
    mode: str,
    num_layers: int,
    bidirectional: bool,
    batch_first: bool,
    projection: bool,
) -> list[Tensor]:
    steps, batch = reversed(input.shape[:2]) if batch_first else input.shape[:2]
    output = input.new_empty((steps, batch, hx[0].shape[-1] * (2 if bidirectional else 1)))
    states = (state.new_empty(state.shape) for state in hx)
    return [output.transpose(0, 1) if batch_first else output, *states]


@custom_op("forwardbook::recurrent_packed", mutates_args=())
def recurrent_packed(
    input: Tensor,
    hx: Sequence[Tensor],
    weights: Sequence[Tensor],
    batch_sizes: Sequence[int],
    mode: str,
    num_layers: int,
    bidirectional: bool,
) -> list[Tensor]:
    """A recurrent stack over packed rows (sum of the lengths, I): the output's rows and the final states."""
    biased = len(weights) // (num_layers * (2 if bidirectional else 1)) in (4, 5)
    run = getattr(torch, mode)
    state = tuple(hx) if mode == "lstm" else hx[0]
    sizes = torch.tensor(batch_sizes, dtype=torch.int64, device="cpu")
    outputs = run(input, sizes, state, list(weights), biased, num_layers, 0.0, False, bidirectional)
    return [t.clone() for t in outputs]


@recurrent_packed.register_fake
def _(
    input: Tensor,
    hx: Sequence[Tensor],
    weights: Sequence[Tensor],
    batch_sizes: Sequence[int],
    mode: str,
    num_layers: int,
    bidirectional: bool,
) -> list[Tensor]:
    width = hx[0].shape[-1] * (2 if bidirectional else 1)
    return [input.new_empty((input.shape[0], width)), *(state.new_empty(state.shape) for state in hx)]


def _call(mode: str, input: Tensor, second: object, third: object, *rest: object) -> tuple[Tensor, ...]:
    """torch.lstm and the like; of packed sequences the second argument is how many go on at each step."""
    if isinstance(third, list | tuple) and isinstance(rest[0], bool):
        return _padded(mode, input, second, third, *rest)  # type: ignore[arg-type]
    return _packed(mode, input, cast("Tensor", second), third, *rest)  # type: ignore[arg-type]


def _padded(
    mode: str,
    input: Tensor,
    hx: Tensor | Sequence[Tensor],
    weights: Sequence[Tensor],
    has_biases: bool,
    layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[Tensor, ...]:
    states = _states(hx)
    projected = mode == "lstm" and number_of(states[0].shape[-1]) != number_of(states[1].shape[-1])
    found = recurrent(input, states, list(weights), mode, layers, bidirectional, batch_first, projected)
    return tuple(found)


def _packed(
    mode: str,
    input: Tensor,
    batch_sizes: Tensor,
    hx: Tensor | Sequence[Tensor],
    weights: Sequence[Tensor],
    has_biases: bool,
    layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
) -> tuple[Tensor, ...]:
    if batch_sizes.device.type != "cpu":
        raise TypeError(f"a packed sequence whose batch_sizes are on {batch_sizes.device}, not on cpu")
    sizes = batch_sizes.tolist()
    return tuple(recurrent_packed(input, _states(hx), list(weights), sizes, mode, layers, bidirectional))


def _states(hx: Tensor | Sequence[Tensor]) -> list[Tensor]:
    return [hx] if isinstance(hx, Tensor) else list(hx)


_MODES: Final = ("lstm", "gru", "rnn_tanh", "rnn_relu")
RECURRENT: Final[Mapping[object, Callable[..., object]]] = {
    getattr(torch, mode): partial(_call, mode) for mode in _MODES
}
"""What stands for torch's recurrent functions."""

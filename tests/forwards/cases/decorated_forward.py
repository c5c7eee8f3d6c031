"""A decorator that passes everything on: the lines are those of the function it wraps."""
# group: 1 decorator-swapped forward
# sizes: B=batch_size:3 S=seq_len:5 D=hidden_size:12
# init: D
# input x: B, S, D

import functools
from collections.abc import Callable

import torch
from torch import Tensor, nn


def noted(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    @functools.wraps(function)
    def wrapper(*args: object, **kwargs: object) -> Tensor:
        return function(*args, **kwargs)

    return wrapper


class Scale(nn.Module):
    def __init__(self, hidden_size: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden_size))

    @noted
    def forward(self, x: Tensor) -> Tensor:
        return x * self.weight  # ops B*S*D; reads a*B*S*D + w*D; writes a*B*S*D

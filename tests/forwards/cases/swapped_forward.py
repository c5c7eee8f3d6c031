"""A class decorator that runs another function in place of forward(), whose text is never executed."""
# group: 1 decorator-swapped forward
# executed: in_one_product
# sizes: T=tokens:5 D=hidden_size:12 H=intermediate_size:20
# init: D, H
# input x: T, D

import functools

import torch
from torch import Tensor, nn


def in_one_product(self: "Experts", x: Tensor) -> Tensor:
    both = x @ self.both  # flops 2*T*D*2*H; reads a*T*D + w*D*2*H; writes a*T*2*H
    gate, up = both.chunk(2, dim=-1)  # nothing
    return gate.sigmoid() * up  # ops 2*T*H; reads a*T*H + 2*a*T*H; writes 2*a*T*H


def use_implementation(cls: type[nn.Module]) -> type[nn.Module]:
    original = cls.forward

    @functools.wraps(original)
    def forward(self: "Experts", *args: Tensor, **kwargs: Tensor) -> Tensor:
        return in_one_product(self, *args, **kwargs)

    cls.forward = forward
    return cls


@use_implementation
class Experts(nn.Module):
    def __init__(self, hidden_size: int, intermediate_size: int) -> None:
        super().__init__()
        self.both = nn.Parameter(torch.empty(hidden_size, 2 * intermediate_size))

    def forward(self, x: Tensor) -> Tensor:
        size = self.both.shape[1] // 2
        return (x @ self.both[:, :size]).sigmoid() * (x @ self.both[:, size:])

"""Weights kept as bytes with a scale for each row, spread out before the product."""
# group: 9 quantised weights
# sizes: T=tokens:10 D=hidden_size:12 H=intermediate_size:20
# init: D, H
# input x: T, D

import torch
from torch import Tensor, nn


class Quantised(nn.Module):
    def __init__(self, hidden_size: int, intermediate_size: int) -> None:
        super().__init__()
        self.register_buffer("bytes", torch.zeros(intermediate_size, hidden_size, dtype=torch.int8))
        self.scale = nn.Parameter(torch.ones(intermediate_size, 1))

    def forward(self, x: Tensor) -> Tensor:
        weight = self.bytes.to(x.dtype)  # reads H*D; writes a*H*D
        weight = weight * self.scale  # ops H*D; reads a*H*D + w*H; writes a*H*D
        return x @ weight.t()  # flops 2*T*D*H; reads a*T*D + a*H*D; writes a*T*H

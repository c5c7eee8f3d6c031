"""Rows chosen by a comparison with weights: how many is data, and all of them is what is assumed."""
# group: 3 value-dependent branches
# assumes: a mask computed from weights is true everywhere
# sizes: N=tokens:7 D=hidden_size:12
# init: D
# input x: N, D

import torch
from torch import Tensor, nn


class Chosen(nn.Module):
    def __init__(self, hidden_size: int) -> None:
        super().__init__()
        self.threshold = nn.Parameter(torch.zeros(hidden_size))

    def forward(self, x: Tensor) -> Tensor:
        score = (x * self.threshold).sum(-1)  # ops 2*N*D; reads 2*a*N*D + w*D; writes a*N*D + a*N
        chosen = (score > 0).nonzero().squeeze(1)  # ops 2*N; reads a*N + N; writes N + 8*N
        return x[chosen]  # reads 8*N + a*N*D; writes a*N*D

"""Rows chosen by a comparison with weights: how many is a size of its own, which data decides."""
# group: 3 value-dependent branches
# sizes: N=tokens:7 D=hidden_size:12 K=chosen_count:3
# condition: K <= N
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
        chosen = (score > 0).nonzero().squeeze(1)  # ops 2*N; reads a*N + N; writes N + 8*K
        return x[chosen]  # reads 8*K + a*K*D; writes a*K*D

"""Experts as one grouped product over sorted rows; with fewer rows than experts only those met are read."""
# group: 4 mixture of experts
# sizes: T=tokens:3 D=hidden_size:16 H=intermediate_size:24 E=num_experts:8 K=top_k:2
# let: R = T*K
# init: D, H, E
# input x: T, D
# input chosen: ints(E, T, K)
# input stops: ints(2, E)

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Experts(nn.Module):
    def __init__(self, hidden_size: int, intermediate_size: int, num_experts: int) -> None:
        super().__init__()
        self.up = nn.Parameter(torch.empty(num_experts, hidden_size, intermediate_size))

    def forward(self, x: Tensor, chosen: Tensor, stops: Tensor) -> Tensor:
        order = chosen.view(-1).argsort()  # ops R; reads 8*R; writes 16*R
        rows = order // chosen.shape[1]  # ops R; reads 8*R; writes 8*R
        sorted_rows = x[rows]  # reads 8*R + a*R*D; writes a*R*D
        stops = stops.to(torch.int32)  # reads 8*E; writes 4*E
        # flops 2*R*D*H; reads a*R*D + 4*E + min(R, E)*D*H*w; writes a*R*H
        return F.grouped_mm(sorted_rows, self.up, offs=stops)

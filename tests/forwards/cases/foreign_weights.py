"""Weights of submodules that are never called: the parent uses them itself."""
# group: 18 modules with no call of their own
# sizes: T=tokens:10 D=hidden_size:12 H=intermediate_size:20
# init: D, H
# input x: T, D

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Fused(nn.Module):
    def __init__(self, hidden_size: int, intermediate_size: int) -> None:
        super().__init__()
        self.gate = nn.Linear(hidden_size, intermediate_size, bias=False)
        self.up = nn.Linear(hidden_size, intermediate_size, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        both = torch.cat((self.gate.weight, self.up.weight))  # reads 2*w*D*H; writes 2*a*D*H
        x = F.linear(x, both)  # flops 4*T*D*H; reads a*T*D + 2*a*D*H; writes 2*a*T*H
        return F.glu(x, dim=-1)  # ops 2*T*H; reads 2*a*T*H; writes a*T*H

"""A layer that learns its input width from an example, and becomes an ordinary one in the first call."""
# group: 18 lazy modules
# sizes: T=tokens:10 D=hidden_size:12 H=intermediate_size:20
# init: D, H
# input x: T, D

import torch
from torch import Tensor, nn


class Lazy(nn.Module):
    def __init__(self, hidden_size: int, intermediate_size: int) -> None:
        super().__init__()
        self.up = nn.LazyLinear(intermediate_size, bias=False)
        self.up.initialize_parameters(torch.empty(1, hidden_size))

    def forward(self, x: Tensor) -> Tensor:
        return self.up(x)  # flops 2*T*D*H; reads w*D*H + a*T*D; writes a*T*H

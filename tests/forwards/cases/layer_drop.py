"""Layers left out at random in training; in evaluation all run."""
# group: 20 LayerDrop
# sizes: T=tokens:10 D=hidden_size:12
# init: D
# input x: T, D

import torch
from torch import Tensor, nn


class Dropped(nn.Module):
    def __init__(self, hidden_size: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(hidden_size, hidden_size, bias=False) for _ in range(3))
        self.layerdrop = 0.1

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            if self.training and torch.rand([]) < self.layerdrop:
                continue
            x = layer(x)  # flops 3*2*T*D*D; reads 3*(w*D*D + a*T*D); writes 3*a*T*D
        return x

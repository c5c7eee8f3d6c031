"""Stated wrongly: weights as wide as activations."""
# group: 21 deliberately wrong formulas
# wrong: the width of activations stands for that of weights
# sizes: B=batch_size:3 S=seq_len:5 D=hidden_size:12
# init: D
# input x: B, S, D

import torch
from torch import Tensor, nn


class Scale(nn.Module):
    def __init__(self, hidden_size: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden_size))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.weight  # ops B*S*D; reads a*B*S*D + a*D; writes a*B*S*D

"""Hyperparameters that pass through math and NumPy: they scale values and no sizes."""
# group: 19 numpy / math on hyperparameters
# sizes: T=tokens:10 D=hidden_size:12
# init: D
# input x: T, D

import math

import numpy as np
from torch import Tensor, nn


class Scaled(nn.Module):
    def __init__(self, hidden_size: int) -> None:
        super().__init__()
        self.scale = float(np.sqrt(hidden_size)) / math.log2(hidden_size)
        self.up = nn.Linear(hidden_size, int(np.prod([2, 3])) * hidden_size, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        x = x * self.scale  # ops T*D; reads a*T*D; writes a*T*D
        return self.up(x)  # flops 12*T*D*D; reads 6*w*D*D + a*T*D; writes 6*a*T*D

"""A branch on a trained scalar, which nobody can know: it must be listed."""
# group: 3 value-dependent branches
# assumes: the value of a float32 scalar
# sizes: B=batch_size:3 D=hidden_size:12
# input x: B, D

import torch
from torch import Tensor, nn


class Gated(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, x: Tensor) -> Tensor:
        if self.gate.item() > 0:  # reads w
            return x * self.gate  # ops B*D; reads a*B*D + w; writes a*B*D
        return x

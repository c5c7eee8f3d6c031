"""A function with its own backward: what its forward runs is seen."""
# group: 15 custom autograd.Function
# sizes: B=batch_size:3 D=hidden_size:12
# input x: B, D

import torch
from torch import Tensor, nn


class Cubed(torch.autograd.Function):
    @staticmethod
    def forward(ctx: object, x: Tensor) -> Tensor:
        return x * x * x


class Cube(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        # the square is read with x: two tensors
        return Cubed.apply(x)  # ops 2*B*D; reads a*B*D + 2*a*B*D; writes 2*a*B*D

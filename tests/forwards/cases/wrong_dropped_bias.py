"""Stated wrongly: the bias is not read."""
# group: 21 deliberately wrong formulas
# wrong: the bias is missing from what is read
# sizes: T=tokens:10 D=hidden_size:12 H=intermediate_size:20
# init: D, H
# input x: T, D

from torch import Tensor, nn


class Up(nn.Module):
    def __init__(self, hidden_size: int, intermediate_size: int) -> None:
        super().__init__()
        self.up = nn.Linear(hidden_size, intermediate_size)

    def forward(self, x: Tensor) -> Tensor:
        return self.up(x)  # flops 2*T*D*H; ops T*H; reads w*D*H + a*T*D; writes a*T*H

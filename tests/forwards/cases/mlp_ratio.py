"""A width from a ratio that is no integer: 2.5 times an odd size is rounded down."""
# group: 8 mlp_ratio floats
# sizes: B=batch_size:3 D=hidden_size:13
# let: H = 5*D // 2
# init: D
# input x: B, D

from torch import Tensor, nn


class Mlp(nn.Module):
    def __init__(self, hidden_size: int, mlp_ratio: float = 2.5) -> None:
        super().__init__()
        self.up = nn.Linear(hidden_size, int(hidden_size * mlp_ratio), bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.up(x)  # flops 2*B*D*H; reads w*D*H + a*B*D; writes a*B*H

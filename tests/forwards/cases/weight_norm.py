"""A weight that is computed from direction and magnitude each time it is used."""
# group: 18 parametrizations
# sizes: T=tokens:10 D=hidden_size:12 H=intermediate_size:20
# init: D, H
# input x: T, D

from torch import Tensor, nn
from torch.nn.utils.parametrizations import weight_norm


class Normed(nn.Module):
    def __init__(self, hidden_size: int, intermediate_size: int) -> None:
        super().__init__()
        self.up = weight_norm(nn.Linear(hidden_size, intermediate_size, bias=False))

    def forward(self, x: Tensor) -> Tensor:
        weight = self.up.weight  # ops 3*D*H; reads w*D*H + w*H; writes a*D*H + a*H
        return x @ weight.t()  # flops 2*T*D*H; reads a*T*D + a*D*H; writes a*T*H

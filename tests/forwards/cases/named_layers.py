"""Layers whose names hold sizes, found again by name."""
# group: 19 f-strings
# sizes: T=tokens:10 D=hidden_size:12 H=intermediate_size:20
# init: D, H
# input x: T, D

from torch import Tensor, nn


class Named(nn.Module):
    def __init__(self, hidden_size: int, intermediate_size: int) -> None:
        super().__init__()
        self.name = f"up_{hidden_size}_{intermediate_size}".replace(".", "_")
        self.add_module(self.name, nn.Linear(hidden_size, intermediate_size, bias=False))

    def forward(self, x: Tensor) -> Tensor:
        up = getattr(self, self.name)
        return up(x)  # flops 2*T*D*H; reads w*D*H + a*T*D; writes a*T*H

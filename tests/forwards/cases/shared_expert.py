"""A shared expert beside the routed ones: two different calls meet on one line."""
# group: 4 mixture of experts
# sizes: T=tokens:10 D=hidden_size:12 H=intermediate_size:20 J=shared_intermediate_size:28
# init: D, H, J
# input x: T, D

from torch import Tensor, nn


class Expert(nn.Module):
    def __init__(self, hidden_size: int, intermediate_size: int) -> None:
        super().__init__()
        self.up = nn.Linear(hidden_size, intermediate_size, bias=False)
        self.down = nn.Linear(intermediate_size, hidden_size, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.down(self.up(x).relu())


class Block(nn.Module):
    def __init__(self, hidden_size: int, intermediate_size: int, shared_intermediate_size: int) -> None:
        super().__init__()
        self.routed = Expert(hidden_size, intermediate_size)
        self.shared = Expert(hidden_size, shared_intermediate_size)

    def forward(self, x: Tensor) -> Tensor:
        # flops 4*T*D*H + 4*T*D*J; ops T*H + T*J + T*D
        # reads 2*w*D*(H + J) + 2*a*T*D + 2*a*T*(H + J) + 2*a*T*D; writes 2*a*T*(H + J) + 3*a*T*D
        return self.routed(x) + self.shared(x)

"""Experts by name, as Switch keeps them."""
# group: 18 ModuleDict
# group: 4 mixture of experts, keys
# sizes: T=tokens:10 D=hidden_size:12
# init: D
# input x: T, D

from torch import Tensor, nn


class Experts(nn.Module):
    def __init__(self, hidden_size: int) -> None:
        super().__init__()
        self.experts = nn.ModuleDict({f"expert_{i}": nn.Linear(hidden_size, hidden_size) for i in range(2)})

    def forward(self, x: Tensor) -> Tensor:
        first = self.experts["expert_0"](x)  # flops 2*T*D*D; ops T*D; reads w*(D*D + D) + a*T*D; writes a*T*D
        for expert in self.experts.values():
            first += expert(x)  # flops 4*T*D*D; ops 4*T*D; reads 2*(w*(D*D + D) + 3*a*T*D); writes 4*a*T*D
        return first

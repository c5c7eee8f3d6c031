"""Every expert runs on every token in a Python loop, weighted by the router."""
# group: 4 mixture of experts
# sizes: T=tokens:10 D=hidden_size:12 E=num_experts:4
# init: D, E
# input x: T, D
# input weights: T, E

import torch
from torch import Tensor, nn


class Experts(nn.Module):
    def __init__(self, hidden_size: int, num_experts: int) -> None:
        super().__init__()
        self.experts = nn.ModuleList(
            nn.Linear(hidden_size, hidden_size, bias=False) for _ in range(num_experts)
        )

    def forward(self, x: Tensor, weights: Tensor) -> Tensor:
        out = torch.zeros_like(x)  # writes a*T*D
        for index, expert in enumerate(self.experts):
            weight = weights[:, index, None]  # nothing
            y = expert(x)  # flops E*2*T*D*D; reads E*(w*D*D + a*T*D); writes E*a*T*D
            out = out + weight * y  # ops E*2*T*D; reads E*(a*T + 3*a*T*D); writes E*2*a*T*D
        return out

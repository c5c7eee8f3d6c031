"""A list of parameters, as long as the constructor is told."""
# group: 18 ParameterList
# sizes: T=tokens:10 D=hidden_size:12 L=num_scales:4
# init: D, L
# input x: T, D

import torch
from torch import Tensor, nn


class Scales(nn.Module):
    def __init__(self, hidden_size: int, num_scales: int) -> None:
        super().__init__()
        self.scales = nn.ParameterList(torch.ones(hidden_size) for _ in range(num_scales))

    def forward(self, x: Tensor) -> Tensor:
        for scale in self.scales:
            x = x * scale  # ops L*T*D; reads L*(a*T*D + w*D); writes L*a*T*D
        return x

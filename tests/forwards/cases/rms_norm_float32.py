"""A norm that computes in float32, in a model of float32: the conversions do nothing."""
# group: 9 dtype regimes
# sizes: T=tokens:10 D=hidden_size:12
# init: D
# input x: T, D

import torch
from torch import Tensor, nn


class RMSNorm(nn.Module):
    def __init__(self, hidden_size: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden_size))

    def forward(self, x: Tensor) -> Tensor:
        kind = x.dtype
        x = x.to(torch.float32)  # nothing
        variance = x.pow(2).mean(-1, keepdim=True)  # ops 2*T*D; reads 2*a*T*D; writes a*T*D + a*T
        # the small number is added and the root taken once for each row
        factor = torch.rsqrt(variance + 1e-6)  # ops 2*T; reads 2*a*T; writes 2*a*T
        x = x * factor  # ops T*D; reads a*T*D + a*T; writes a*T*D
        return self.weight * x.to(kind)  # ops T*D; reads w*D + a*T*D; writes a*T*D

"""The same norm in a model of bfloat16: everything between the conversions is 4 bytes wide."""
# group: 9 dtype regimes
# dtype: bfloat16
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
        x = x.to(torch.float32)  # reads a*T*D; writes 4*T*D
        variance = x.pow(2).mean(-1, keepdim=True)  # ops 2*T*D; reads 2*4*T*D; writes 4*T*D + 4*T
        factor = torch.rsqrt(variance + 1e-6)  # ops 2*T; reads 2*4*T; writes 2*4*T
        x = x * factor  # ops T*D; reads 4*T*D + 4*T; writes 4*T*D
        return self.weight * x.to(kind)  # ops T*D; reads 4*T*D + w*D + a*T*D; writes 2*a*T*D

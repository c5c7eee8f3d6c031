"""Rows repeated as often as weights say: how many there are in all is a size of its own."""
# group: 3 value-dependent branches
# sizes: N=tokens:7 D=hidden_size:12 K=longer_count:11
# init: D
# input x: N, D

import torch
from torch import Tensor, nn


class Lengthened(nn.Module):
    def __init__(self, hidden_size: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.zeros(hidden_size))

    def forward(self, x: Tensor) -> Tensor:
        score = (x * self.scale).sum(-1)  # ops 2*N*D; reads 2*a*N*D + w*D; writes a*N*D + a*N
        often = score.ceil().long()  # ops N; reads 2*a*N; writes a*N + 8*N
        longer = torch.repeat_interleave(x, often, dim=0)  # reads 8*N + 8*K + a*K*D; writes 8*K + a*K*D
        return longer.exp()  # ops K*D; reads a*K*D; writes a*K*D

"""Tokens sorted by expert and split by how many each has: numbers of balanced routing, so that is assumed."""
# group: 3 value-dependent branches
# assumes: balanced routing
# sizes: N=tokens:8 D=hidden_size:12 E=experts:4
# condition: N == 8
# where: E >= 4
# where: E <= 6
# init: D, E
# input x: N, D

import torch
from torch import Tensor, nn


class Split(nn.Module):
    def __init__(self, hidden_size: int, experts: int) -> None:
        super().__init__()
        self.experts = experts
        self.score = nn.Linear(hidden_size, experts, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        # flops 2*N*D*E; ops N*E; reads a*N*D + w*E*D + a*N*E; writes a*N*E + 8*N
        best = self.score(x).argmax(-1)
        counts = torch.bincount(best, minlength=self.experts).tolist()  # ops N; reads 8*N; writes 8*E
        first = x[best.argsort()].split(counts)[0]  # ops N; reads 16*N + a*N*D; writes 16*N + a*N*D
        return first.exp()  # ops 2*D; reads 2*a*D; writes 2*a*D

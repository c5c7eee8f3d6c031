"""The classes that differ among those that weights chose: work is done once for each, and found again."""
# group: 3 value-dependent branches
# sizes: N=tokens:7 D=hidden_size:12 C=classes:5 K=found_count:2
# condition: K <= N
# init: D, C
# input x: N, D

import torch
from torch import Tensor, nn


class ByClass(nn.Module):
    def __init__(self, hidden_size: int, classes: int) -> None:
        super().__init__()
        self.score = nn.Linear(hidden_size, classes, bias=False)
        self.table = nn.Parameter(torch.empty(classes, hidden_size))

    def forward(self, x: Tensor) -> Tensor:
        # flops 2*N*D*C; ops N*C; reads a*N*D + w*C*D + a*N*C; writes a*N*C + 8*N
        best = self.score(x).argmax(-1)
        found, place = torch.unique(best, return_inverse=True)  # ops N; reads 8*N; writes 8*K + 8*N
        rows = self.table[found].exp()  # ops K*D; reads 8*K + w*K*D + a*K*D; writes 2*a*K*D
        return rows[place]  # reads 8*N + a*N*D; writes a*N*D

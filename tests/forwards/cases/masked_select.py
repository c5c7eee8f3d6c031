"""Elements that a mask of weights selects: as many as data says, of all that are compared."""
# group: 3 value-dependent branches
# sizes: N=tokens:7 D=hidden_size:12 K=kept_count:42
# condition: K <= N*D
# init: D
# input x: N, D

import torch
from torch import Tensor, nn


class Positive(nn.Module):
    def __init__(self, hidden_size: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.zeros(hidden_size))

    def forward(self, x: Tensor) -> Tensor:
        score = x * self.scale  # ops N*D; reads a*N*D + w*D; writes a*N*D
        kept = torch.masked_select(score, score > 0)  # ops 2*N*D; reads 2*a*N*D + N*D; writes N*D + a*K
        return kept.exp()  # ops K; reads a*K; writes a*K

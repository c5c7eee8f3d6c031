"""The scores of the targets, chosen by comparing each with the numbers of all classes: one of each row."""
# group: 3 value-dependent branches
# sizes: N=tokens:7 C=num_classes:12
# input scores: N, C
# input targets: full(0, N)
# assumes: a mask of known values is true once in each row

import torch
from torch import Tensor, nn


class Targets(nn.Module):
    def forward(self, scores: Tensor, targets: Tensor) -> Tensor:
        classes = torch.arange(scores.shape[-1], device=scores.device)  # writes 8*C
        chosen = classes == targets[:, None]  # ops N*C; reads 8*(N + C); writes N*C
        kept = scores[chosen]  # reads N*C + a*N; writes a*N
        return kept.sin()  # ops N; reads a*N; writes a*N

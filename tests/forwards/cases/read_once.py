"""A tensor given twice is read once; an expanded one as often as it has elements of its own."""
# group: 12 aliases
# sizes: B=batch_size:3 S=seq_len:5 D=hidden_size:12
# init: D
# input x: B, S, D

import torch
from torch import Tensor, nn


class Once(nn.Module):
    def __init__(self, hidden_size: int) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(hidden_size))

    def forward(self, x: Tensor) -> Tensor:
        squared = x * x  # ops B*S*D; reads a*B*S*D; writes a*B*S*D
        bias = self.bias.expand(x.shape)  # nothing
        return squared - bias  # ops B*S*D; reads a*B*S*D + w*D; writes a*B*S*D

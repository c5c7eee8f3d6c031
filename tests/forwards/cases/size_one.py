"""A batch of one that broadcasts: the constant 1 is no symbol."""
# group: 7 size-1
# sizes: B=batch_size:3 S=seq_len:5 D=hidden_size:12
# init: D
# input x: B, S, D
# input positions: 1, S, D

import torch
from torch import Tensor, nn


class Positions(nn.Module):
    def __init__(self, hidden_size: int) -> None:
        super().__init__()
        self.token = nn.Parameter(torch.zeros(1, 1, hidden_size))

    def forward(self, x: Tensor, positions: Tensor) -> Tensor:
        x = x + positions  # ops B*S*D; reads a*B*S*D + a*S*D; writes a*B*S*D
        first = self.token.expand(x.shape[0], -1, -1)  # nothing
        return torch.cat((first, x), dim=1)  # reads w*D + a*B*S*D; writes a*B*(S + 1)*D

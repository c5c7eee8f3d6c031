"""A loop that goes on while a value of weights says so: how many rounds is a size of its own."""
# group: 3 value-dependent branches
# group: 5 loops
# sizes: B=batch_size:3 D=hidden_size:12 R=round_count:2
# init: D
# input x: B, D

import torch
from torch import Tensor, nn


class Until(nn.Module):
    def __init__(self, hidden_size: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.zeros(hidden_size))

    def forward(self, x: Tensor) -> Tensor:
        done = 0
        # ops (R + 1)*(B*D + 1); reads (R + 1)*(a*B*D + a + 1); writes (R + 1)*(a + 1)
        while not x.max() < 0.5 and done < 99:
            x = x * self.scale  # ops R*B*D; reads R*(a*B*D + w*D); writes R*a*B*D
            done += 1
        return x + 1  # ops B*D; reads a*B*D; writes a*B*D

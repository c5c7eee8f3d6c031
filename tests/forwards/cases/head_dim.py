"""The width of a head as int(hidden / heads), a division that Python makes in floats."""
# group: 8 int(hidden / heads)
# sizes: B=batch_size:3 S=seq_len:5 D=hidden_size:12 N=num_attention_heads:4
# where: D % N == 0
# init: D, N
# input x: B, S, D

import math

from torch import Tensor, nn


class Heads(nn.Module):
    def __init__(self, hidden_size: int, num_attention_heads: int) -> None:
        super().__init__()
        self.num_heads = num_attention_heads
        self.head_dim = int(hidden_size / num_attention_heads)
        self.query = nn.Linear(hidden_size, self.num_heads * self.head_dim)

    def forward(self, x: Tensor) -> Tensor:
        q = self.query(x)  # flops 2*B*S*D*D; ops B*S*D; reads w*(D*D + D) + a*B*S*D; writes a*B*S*D
        q = q.view(*x.shape[:-1], self.num_heads, self.head_dim)  # nothing
        q = q / math.sqrt(self.head_dim)  # ops B*S*D; reads a*B*S*D; writes a*B*S*D
        return q.sum(-1)  # ops B*S*D; reads a*B*S*D; writes a*B*S*N

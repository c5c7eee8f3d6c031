"""A view of heads is free, but merging dimensions that are not neighbours in memory copies."""
# group: 6 strides
# sizes: B=batch_size:3 S=seq_len:5 N=num_heads:4 P=head_dim:8
# let: D = N*P
# init: N
# input x: B, S, N*P

from torch import Tensor, nn


class Heads(nn.Module):
    def __init__(self, num_heads: int) -> None:
        super().__init__()
        self.num_heads = num_heads

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        heads = x.view(batch, length, self.num_heads, -1)  # nothing
        heads = heads.transpose(1, 2)  # nothing
        merged = heads.reshape(batch * self.num_heads, length, -1)  # reads a*B*S*D; writes a*B*S*D
        back = merged.view(batch, self.num_heads, length, -1).transpose(1, 2)  # nothing
        return back.reshape(batch, length, width)  # reads a*B*S*D; writes a*B*S*D

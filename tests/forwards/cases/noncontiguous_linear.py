"""A layer on channels that come first: they are copied into rows, and the bias is added after the product."""
# group: 6 3-D linear on non-contiguous input
# sizes: B=batch_size:3 S=seq_len:5 D=hidden_size:12 H=intermediate_size:20
# init: D, H
# input x: B, D, S

from torch import Tensor, nn


class ChannelsFirst(nn.Module):
    def __init__(self, hidden_size: int, intermediate_size: int) -> None:
        super().__init__()
        self.proj = nn.Linear(hidden_size, intermediate_size)

    def forward(self, x: Tensor) -> Tensor:
        x = x.transpose(1, 2)  # nothing
        # flops 2*B*S*D*H; ops B*S*H
        # reads 2*a*B*S*D + w*D*H + a*B*S*H + w*H; writes a*B*S*D + 2*a*B*S*H
        return self.proj(x)

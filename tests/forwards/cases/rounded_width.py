"""A width rounded up to a multiple, as feed-forward layers are sized for hardware."""
# group: 8 ceil
# sizes: B=batch_size:3 D=hidden_size:14 M=multiple_of:8
# let: H = M*ceil((8*D // 3) / M)
# init: D, M
# input x: B, D

from torch import Tensor, nn


class Mlp(nn.Module):
    def __init__(self, hidden_size: int, multiple_of: int) -> None:
        super().__init__()
        width = 4 * hidden_size * 2 // 3
        width = multiple_of * ((width + multiple_of - 1) // multiple_of)
        self.up = nn.Linear(hidden_size, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.up(x)  # flops 2*B*D*H; reads w*D*H + a*B*D; writes a*B*H

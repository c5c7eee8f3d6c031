"""Two products and an activation between them."""
# group: 8 plain sizes
# sizes: B=batch_size:3 S=seq_len:5 D=hidden_size:12 H=intermediate_size:20
# let: T = B*S
# init: D, H
# input x: B, S, D

from torch import Tensor, nn
from torch.nn import functional as F


class FeedForward(nn.Module):
    def __init__(self, hidden_size: int, intermediate_size: int) -> None:
        super().__init__()
        self.up = nn.Linear(hidden_size, intermediate_size)
        self.down = nn.Linear(intermediate_size, hidden_size, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        x = self.up(x)  # flops 2*T*D*H; ops T*H; reads w*(D*H + H) + a*T*D; writes a*T*H
        x = F.gelu(x)  # ops T*H; reads a*T*H; writes a*T*H
        return self.down(x)  # flops 2*T*H*D; reads w*H*D + a*T*H; writes a*T*D

"""Two moments that may hold the most, each the larger for some sizes."""
# group: 17 argmax switch
# sizes: T=tokens:10 D=hidden_size:12 H=intermediate_size:20
# init: D, H
# input x: T, D
# intermediates: 2*a*T*H + a*T*D
# peak: max(2*a*T*H, a*T*H + a*T*D, 2*a*T*D)

from torch import Tensor, nn


class FeedForward(nn.Module):
    def __init__(self, hidden_size: int, intermediate_size: int) -> None:
        super().__init__()
        self.up = nn.Linear(hidden_size, intermediate_size, bias=False)
        self.down = nn.Linear(intermediate_size, hidden_size, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        x = self.up(x)  # flops 2*T*D*H; reads w*D*H + a*T*D; writes a*T*H
        x = x.relu()  # ops T*H; reads a*T*H; writes a*T*H
        x = self.down(x)  # flops 2*T*D*H; reads w*D*H + a*T*H; writes a*T*D
        return x.tanh()  # ops T*D; reads a*T*D; writes a*T*D

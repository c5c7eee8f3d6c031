"""Activations in place reuse the storage they are given: it is never two at a time."""
# group: 17 in-place reuse
# group: 12 in-place ops
# sizes: T=tokens:10 D=hidden_size:12 H=intermediate_size:20
# init: D, H
# input x: T, D
# intermediates: 0
# peak: a*T*H
# weights: w*D*H
# boundary: w*D*H + a*T*D + a*T*H

from torch import Tensor, nn


class Up(nn.Module):
    def __init__(self, hidden_size: int, intermediate_size: int) -> None:
        super().__init__()
        self.up = nn.Linear(hidden_size, intermediate_size, bias=False)
        self.act = nn.SiLU(inplace=True)

    def forward(self, x: Tensor) -> Tensor:
        x = self.up(x)  # flops 2*T*D*H; reads w*D*H + a*T*D; writes a*T*H
        x = self.act(x)  # ops T*H; reads a*T*H; writes a*T*H
        return x.clamp_(min=0)  # ops T*H; reads a*T*H; writes a*T*H

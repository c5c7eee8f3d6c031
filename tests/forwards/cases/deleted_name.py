"""A name deleted before the next tensor is made; the one that stays counts to the end."""
# group: 17 del
# sizes: T=tokens:10 D=hidden_size:12
# input x: T, D
# intermediates: 2*a*T*D
# peak: 2*a*T*D
# boundary: 2*a*T*D

from torch import Tensor, nn


class Deleted(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        first = x.exp()  # ops T*D; reads a*T*D; writes a*T*D
        second = first.sin()  # ops T*D; reads a*T*D; writes a*T*D
        del first
        return second.cos()  # ops T*D; reads a*T*D; writes a*T*D

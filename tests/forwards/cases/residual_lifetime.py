"""A name that keeps an intermediate alive until it is added again."""
# group: 17 Python reference lifetimes
# sizes: T=tokens:10 D=hidden_size:12
# input x: T, D
# intermediates: 3*a*T*D
# peak: 3*a*T*D

from torch import Tensor, nn


class Residual(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        kept = x.exp()  # ops T*D; reads a*T*D; writes a*T*D
        y = kept.sin()  # ops T*D; reads a*T*D; writes a*T*D
        y = y.cos()  # ops T*D; reads a*T*D; writes a*T*D
        return kept + y  # ops T*D; reads 2*a*T*D; writes a*T*D

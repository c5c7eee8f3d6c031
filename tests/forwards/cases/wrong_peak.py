"""Stated wrongly: only what comes out is thought to be alive at once."""
# group: 21 deliberately wrong formulas
# group: 17 peak
# wrong: the peak leaves out the tensor that is read
# sizes: T=tokens:10 D=hidden_size:12
# input x: T, D
# peak: a*T*D

from torch import Tensor, nn


class Twice(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        x = x.exp()  # ops T*D; reads a*T*D; writes a*T*D
        return x.neg()  # ops T*D; reads a*T*D; writes a*T*D

"""Rows kept by a mask that the caller gives: all of them, as every value of the mask is one."""
# group: 3 value-dependent branches
# sizes: N=tokens:7 D=hidden_size:12
# input x: N, D
# input mask: ones(N, dtype=torch.bool)
# assumes: a mask of known values is true everywhere

from torch import Tensor, nn


class Unpadded(nn.Module):
    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        kept = x[mask]  # reads N + a*N*D; writes a*N*D
        return kept.sin()  # ops N*D; reads a*N*D; writes a*N*D

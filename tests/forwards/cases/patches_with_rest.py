"""Patches of an image that they do not divide: the rest is dropped."""
# group: 8 patch size not dividing image size
# sizes: B=batch_size:3 C=channels:4 D=hidden_size:12 H=height:14 W=width:18 P=patch_size:5
# let: N = (H//P) * (W//P)
# init: C, D, P
# input pixels: B, C, H, W

from torch import Tensor, nn


class Patches(nn.Module):
    def __init__(self, channels: int, hidden_size: int, patch_size: int) -> None:
        super().__init__()
        self.proj = nn.Conv2d(channels, hidden_size, patch_size, patch_size, bias=False)

    def forward(self, pixels: Tensor) -> Tensor:
        x = self.proj(pixels)  # flops 2*B*D*N*C*P*P; reads a*B*C*H*W + w*D*C*P*P; writes a*B*D*N
        x = x.flatten(2).transpose(1, 2)  # nothing
        return x.sigmoid()  # ops B*D*N; reads a*B*D*N; writes a*B*D*N

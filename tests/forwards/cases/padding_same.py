"""padding="same" keeps the size of the image."""
# group: 8 padding='same'
# sizes: B=batch_size:3 C=in_channels:4 O=out_channels:6 H=height:9 W=width:11
# init: C, O
# input x: B, C, H, W

from torch import Tensor, nn


class Same(nn.Module):
    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, 3, padding="same")

    def forward(self, x: Tensor) -> Tensor:
        # flops 2*B*O*H*W*C*9; ops B*O*H*W; reads a*B*C*H*W + w*(O*C*9 + O); writes a*B*O*H*W
        return self.conv(x)

"""A transposed convolution: every input element reaches every position of the kernel."""
# group: 8 transposed conv
# sizes: B=batch_size:3 C=in_channels:4 O=out_channels:6 H=height:9 W=width:11 K=kernel_size:5 T=stride:2
# let: Y = (H - 1)*T + K
# let: X = (W - 1)*T + K
# init: C, O, K, T
# input x: B, C, H, W

from torch import Tensor, nn


class Upsample(nn.Module):
    def __init__(self, in_channels: int, out_channels: int, kernel_size: int, stride: int) -> None:
        super().__init__()
        self.conv = nn.ConvTranspose2d(in_channels, out_channels, kernel_size, stride)

    def forward(self, x: Tensor) -> Tensor:
        # flops 2*B*C*H*W*O*K*K; ops B*O*Y*X; reads a*B*C*H*W + w*(C*O*K*K + O); writes a*B*O*Y*X
        return self.conv(x)

"""Running statistics: an affine map, whose saved statistics no device needs."""
# group: 13 batch_norm
# sizes: B=batch_size:3 C=num_features:4 H=height:9 W=width:11
# init: C
# input x: B, C, H, W

from torch import Tensor, nn


class Norm(nn.Module):
    def __init__(self, num_features: int) -> None:
        super().__init__()
        self.norm = nn.BatchNorm2d(num_features)

    def forward(self, x: Tensor) -> Tensor:
        # four vectors of channels: weight, bias, running mean, running variance
        return self.norm(x)  # ops 4*B*C*H*W; reads a*B*C*H*W + 4*w*C; writes a*B*C*H*W

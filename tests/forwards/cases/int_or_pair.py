"""A size that may be an integer or a pair: the constructor asks which."""
# group: 19 isinstance(x, int)
# sizes: B=batch_size:3 C=channels:4 H=height:9 W=width:11 K=kernel_size:3
# init: C, K
# input x: B, C, H, W

from torch import Tensor, nn
from torch.nn import functional as F


class Pool(nn.Module):
    def __init__(self, channels: int, kernel_size: int | tuple[int, int]) -> None:
        super().__init__()
        self.kernel_size = (kernel_size, kernel_size) if isinstance(kernel_size, int) else kernel_size
        self.shape_text = f"{channels}x{kernel_size}"

    def forward(self, x: Tensor) -> Tensor:
        # one average for each window
        # ops B*C*(H//K)*(W//K)*K*K; reads a*B*C*H*W; writes a*B*C*(H//K)*(W//K)
        return F.avg_pool2d(x, self.kernel_size)

"""An image padded to whole windows and cut into them."""
# group: 8 window padding
# sizes: B=batch_size:3 H=height:10 W=width:13 C=channels:6 M=window_size:4
# let: Y = ceil(H/M)
# let: X = ceil(W/M)
# let: N = B*Y*M*X*M*C
# init: M
# input x: B, H, W, C

from torch import Tensor, nn
from torch.nn import functional as F


class Windows(nn.Module):
    def __init__(self, window_size: int) -> None:
        super().__init__()
        self.window_size = window_size

    def forward(self, x: Tensor) -> Tensor:
        size = self.window_size
        batch, height, width, channels = x.shape
        right, bottom = (size - width % size) % size, (size - height % size) % size
        x = F.pad(x, (0, 0, 0, right, 0, bottom))  # reads a*B*H*W*C; writes a*N
        rows, columns = x.shape[1] // size, x.shape[2] // size
        x = x.view(batch, rows, size, columns, size, channels)  # nothing
        return x.permute(0, 1, 3, 2, 4, 5).contiguous()  # reads a*N; writes a*N

"""A window longer than the sequence cuts nothing off."""
# group: 7 sliding window longer than seq
# sizes: B=batch_size:3 S=seq_len:5 D=hidden_size:12 W=window:13
# condition: S < W
# init: W
# input x: B, S, D

from torch import Tensor, nn


class Last(nn.Module):
    def __init__(self, window: int) -> None:
        super().__init__()
        self.window = window

    def forward(self, x: Tensor) -> Tensor:
        x = x[:, -self.window :]  # nothing
        return x.square()  # ops B*S*D; reads a*B*S*D; writes a*B*S*D

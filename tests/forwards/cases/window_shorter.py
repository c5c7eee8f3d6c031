"""A window shorter than the sequence: only its last positions are read."""
# group: 7 sliding window shorter than seq
# sizes: B=batch_size:3 S=seq_len:13 D=hidden_size:12 W=window:5
# condition: S > W
# init: W
# input x: B, S, D

from torch import Tensor, nn


class Last(nn.Module):
    def __init__(self, window: int) -> None:
        super().__init__()
        self.window = window

    def forward(self, x: Tensor) -> Tensor:
        if x.shape[1] > self.window:
            x = x[:, -self.window :]  # nothing
        return x.square()  # ops B*W*D; reads a*B*W*D; writes a*B*W*D

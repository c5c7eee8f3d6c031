"""Stated wrongly: the last chunk, which is not full, is left out."""
# group: 21 deliberately wrong formulas
# wrong: rounded down instead of up
# sizes: B=batch_size:3 S=seq_len:10 D=hidden_size:12 C=chunk_size:4
# let: P = C*(S//C)
# init: C
# input x: B, S, D

from torch import Tensor, nn
from torch.nn import functional as F


class Chunked(nn.Module):
    def __init__(self, chunk_size: int) -> None:
        super().__init__()
        self.chunk_size = chunk_size

    def forward(self, x: Tensor) -> Tensor:
        missing = (self.chunk_size - x.shape[1] % self.chunk_size) % self.chunk_size
        return F.pad(x, (0, 0, 0, missing))  # reads a*B*S*D; writes a*B*P*D

"""Scores within chunks: the sequence is padded to a multiple of the chunk."""
# group: 5 chunked linear attention with padding
# sizes: B=batch_size:3 S=seq_len:10 D=hidden_size:12 C=chunk_size:4
# let: P = C*ceil(S/C)
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
        x = F.pad(x, (0, 0, 0, missing))  # reads a*B*S*D; writes a*B*P*D
        chunks = x.view(x.shape[0], -1, self.chunk_size, x.shape[2])  # nothing
        scores = chunks @ chunks.mT  # flops 2*B*P*C*D; reads a*B*P*D; writes a*B*P*C
        return scores.exp()  # ops B*P*C; reads a*B*P*C; writes a*B*P*C

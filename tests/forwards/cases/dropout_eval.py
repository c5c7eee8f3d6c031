"""Dropout in evaluation gives its input back: nothing is copied."""
# group: 20 dropout in eval
# sizes: T=tokens:10 D=hidden_size:12
# input x: T, D
# peak: a*T*D

from torch import Tensor, nn
from torch.nn import functional as F


class Dropped(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.dropout = nn.Dropout(0.1)

    def forward(self, x: Tensor) -> Tensor:
        x = x.exp()  # ops T*D; reads a*T*D; writes a*T*D
        x = self.dropout(x)  # nothing
        return F.dropout(x, p=0.1, training=self.training)  # nothing

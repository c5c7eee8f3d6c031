"""Dropout in training draws a mask, scales it and multiplies."""
# group: 20 train mode
# mode: train
# sizes: T=tokens:10 D=hidden_size:12
# input x: T, D

from torch import Tensor, nn
from torch.nn import functional as F


class Dropped(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        # draw, scale what was drawn, multiply
        # ops 3*T*D; reads a*T*D + 2*a*T*D; writes 3*a*T*D
        return F.dropout(x, p=0.25, training=self.training)

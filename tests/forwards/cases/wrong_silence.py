"""Stated wrongly: a line that moves bytes has no comment."""
# group: 21 deliberately wrong formulas
# wrong: a copy is not mentioned
# sizes: B=batch_size:3 S=seq_len:5 D=hidden_size:12
# input x: B, S, D

from torch import Tensor, nn


class Copied(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        x = x.transpose(0, 1).contiguous()
        return x.neg()  # ops B*S*D; reads a*B*S*D; writes a*B*S*D

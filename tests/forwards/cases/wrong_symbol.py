"""Stated wrongly: the keys are as many as the queries."""
# group: 21 deliberately wrong formulas
# wrong: one length stands for the other
# sizes: B=batch_size:3 S=seq_len:5 T=kv_len:7 D=head_dim:8
# input q: B, S, D
# input k: B, T, D

from torch import Tensor, nn


class Scores(nn.Module):
    def forward(self, q: Tensor, k: Tensor) -> Tensor:
        return q @ k.transpose(1, 2)  # flops 2*B*S*S*D; reads a*B*S*D + a*B*T*D; writes a*B*S*T

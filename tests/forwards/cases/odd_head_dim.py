"""Rotation by halves where the width of a head is odd: the halves differ by one."""
# group: 8 odd head_dim
# sizes: B=batch_size:3 S=seq_len:5 P=head_dim:7
# let: Q = P - P//2
# input x: B, S, P

import torch
from torch import Tensor, nn


class RotateHalf(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        half = x.shape[-1] // 2
        second = -x[..., half:]  # ops B*S*Q; reads a*B*S*Q; writes a*B*S*Q
        return torch.cat((second, x[..., :half]), dim=-1)  # reads a*B*S*P; writes a*B*S*P

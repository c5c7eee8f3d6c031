"""Rotation by complex numbers: pairs are seen as complex without moving."""
# group: 16 complex RoPE
# sizes: B=batch_size:3 S=seq_len:5 N=num_heads:4 H=half_head_dim:6
# let: M = B*S*N*H
# input x: B, S, N, 2*H
# input angles: S, H

import torch
from torch import Tensor, nn


class Rotary(nn.Module):
    def forward(self, x: Tensor, angles: Tensor) -> Tensor:
        ones = torch.ones_like(angles)  # writes a*S*H
        turns = torch.polar(ones, angles)  # ops 4*S*H; reads 2*a*S*H; writes 8*S*H
        pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2))  # nothing
        turned = pairs * turns[:, None, :]  # ops M; reads 8*M + 8*S*H; writes 8*M
        return torch.view_as_real(turned).flatten(3)  # nothing

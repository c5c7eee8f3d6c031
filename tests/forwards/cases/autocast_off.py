"""Angles computed with autocast switched off, as rotary embeddings do."""
# group: 9 autocast
# sizes: B=batch_size:3 S=seq_len:5 H=half_head_dim:4
# init: H
# input positions: ints(S, B, S)

import torch
from torch import Tensor, nn


class Angles(nn.Module):
    def __init__(self, half_head_dim: int) -> None:
        super().__init__()
        self.register_buffer("frequencies", torch.ones(half_head_dim))

    def forward(self, positions: Tensor) -> Tensor:
        with torch.autocast(device_type="cpu", enabled=False):
            places = positions[..., None].float()  # reads 8*B*S; writes a*B*S
            angles = places * self.frequencies  # ops B*S*H; reads a*B*S + w*H; writes a*B*S*H
        return angles.cos()  # ops B*S*H; reads a*B*S*H; writes a*B*S*H

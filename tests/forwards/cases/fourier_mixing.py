"""Fourier transforms over width and sequence; taking the real part is a view."""
# group: 16 FFT
# sizes: B=batch_size:3 S=seq_len:5 D=hidden_size:12
# let: N = B*S*D
# input x: B, S, D

import torch
from torch import Tensor, nn


class Mixing(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        wide = torch.fft.fft(x, dim=-1)  # ops N; reads a*N; writes 8*N
        both = torch.fft.fft(wide, dim=-2)  # ops N; reads 8*N; writes 8*N
        # the real part is 4 bytes wide and every other number in memory
        return both.real.abs()  # ops N; reads a*N; writes a*N

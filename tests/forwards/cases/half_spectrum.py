"""A transform of real numbers keeps half of the spectrum and one more."""
# group: 16 FFT
# sizes: B=batch_size:3 S=seq_len:10
# let: H = S//2 + 1
# input x: B, S

import torch
from torch import Tensor, nn


class Spectrum(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        spectrum = torch.fft.rfft(x, dim=-1)  # ops max(B*S, B*H); reads a*B*S; writes 8*B*H
        power = spectrum.abs()  # ops B*H; reads 8*B*H; writes a*B*H
        return power.log()  # ops B*H; reads a*B*H; writes a*B*H

"""Helpers of other files: none of them is the file of a class that is analysed."""

import math

from torch import nn


def two_thirds(h, m):
    h = int(2 * h / 3)
    return m * ((h + m - 1) // m)


def eleven_tenths(n):
    return int(n * 1.1)


def nearest(value, divisor):
    rounded = max(divisor, int(value + divisor / 2) // divisor * divisor)
    return rounded + divisor if rounded < 0.9 * value else rounded


def squeezed(channels, ratio):
    return max(1, int(channels * ratio))


def heads_of(dim):
    return 2 ** int(math.log2(dim // 32)) if dim >= 32 else 1


class GatedBase(nn.Module):
    def __init__(self, dim: int = 48, ratio: float = 2.7):
        super().__init__()
        hidden = int(dim * ratio)
        self.up = nn.Linear(dim, hidden)
        self.down = nn.Linear(hidden, dim)

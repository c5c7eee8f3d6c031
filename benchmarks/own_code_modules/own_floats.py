"""Whole numbers that Python makes of floats of sizes."""

import math

import torch
from torch import nn


class TwoThirds(nn.Module):
    def __init__(self, dim: int = 64, multiple_of: int = 16):
        super().__init__()
        hidden = int(2 * (4 * dim) / 3)
        hidden = multiple_of * ((hidden + multiple_of - 1) // multiple_of)
        self.w1 = nn.Linear(dim, hidden, bias=False)
        self.w2 = nn.Linear(hidden, dim, bias=False)
        self.w3 = nn.Linear(dim, hidden, bias=False)

    def forward(self, x):
        return self.w2(nn.functional.silu(self.w1(x)) * self.w3(x))


class Trunc(nn.Module):
    def __init__(self, dim: int = 64, ratio: float = 1.15):
        super().__init__()
        self.fc = nn.Linear(dim, int(dim * ratio), bias=False)

    def forward(self, x):
        return self.fc(x)


class Trunc57(nn.Module):
    def __init__(self, dim: int = 64):
        super().__init__()
        self.fc = nn.Linear(dim, int(dim * 0.57), bias=False)

    def forward(self, x):
        return self.fc(x)


class CeilThird(nn.Module):
    def __init__(self, dim: int = 64):
        super().__init__()
        self.fc = nn.Linear(dim, math.ceil(dim / 3))
        self.out = nn.Linear(math.ceil(dim / 3), round(dim / 4))

    def forward(self, x):
        return self.out(self.fc(x))


class Root(nn.Module):
    def __init__(self, dim: int = 32):
        super().__init__()
        self.fc = nn.Linear(dim, dim)

    def forward(self, x):
        side = int(x.shape[1] ** 0.5)
        return self.fc(x[:, : side * side].reshape(x.shape[0], side, side, -1).mean(1))


class KeepRatio(nn.Module):
    def __init__(self, dim: int = 32, keep: float = 0.29):
        super().__init__()
        self.fc = nn.Linear(dim, dim)
        self.keep = keep

    def forward(self, x):
        kept = max(1, int(x.shape[1] * self.keep))
        order = torch.rand(x.shape[0], x.shape[1], device=x.device).argsort(dim=1)[:, :kept]
        return self.fc(torch.gather(x, 1, order[..., None].expand(-1, -1, x.shape[2])))


class Expand(nn.Module):
    def __init__(self, channels: int = 20, factor: float = 1.2, divisor: int = 8):
        super().__init__()
        mid = int(channels * factor + divisor / 2) // divisor * divisor
        self.up = nn.Conv2d(channels, max(divisor, mid), 1)

    def forward(self, x):
        return self.up(x)

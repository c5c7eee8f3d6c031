"""Widths that other files make."""

from torch import nn
from widths import GatedBase, eleven_tenths, heads_of, nearest, two_thirds


class ByHelper(nn.Module):
    def __init__(self, dim: int = 64, hidden_dim: int = 192, multiple_of: int = 16):
        super().__init__()
        self.fc = nn.Linear(dim, two_thirds(hidden_dim, multiple_of), bias=False)

    def forward(self, x):
        return self.fc(x)


class ByBase(GatedBase):
    def forward(self, x):
        return self.down(self.up(x).sigmoid())


class ByEleven(nn.Module):
    def __init__(self, dim: int = 50):
        super().__init__()
        self.fc = nn.Linear(dim, eleven_tenths(dim))

    def forward(self, x):
        return self.fc(x)


class ByNearest(nn.Module):
    def __init__(self, dim: int = 64, divisor: int = 8):
        super().__init__()
        self.fc = nn.Linear(dim, nearest(dim * 0.7, divisor))

    def forward(self, x):
        return self.fc(x)


class ByHeads(nn.Module):
    def __init__(self, dim: int = 96):
        super().__init__()
        self.heads = heads_of(dim)
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)

    def forward(self, x):
        b, s, d = x.shape
        q, k, v = (t.view(b, s, self.heads, -1).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        return ((q @ k.transpose(-1, -2)).softmax(-1) @ v).transpose(1, 2).reshape(b, s, d)

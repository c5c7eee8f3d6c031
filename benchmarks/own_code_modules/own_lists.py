"""Lists of layers that meet lists of tensors."""

import torch
from torch import nn


class PyramidHead(nn.Module):
    def __init__(self, in_channels, out: int = 32):
        super().__init__()
        self.laterals = nn.ModuleList(nn.Conv2d(c, out, 1) for c in in_channels)
        self.outs = nn.ModuleList(nn.Conv2d(out, out, 3, padding=1) for _ in in_channels)

    def forward(self, features):
        maps = [lateral(f) for lateral, f in zip(self.laterals, features)]
        for i in range(len(maps) - 1, 0, -1):
            size = maps[i - 1].shape[-2:]
            maps[i - 1] = maps[i - 1] + nn.functional.interpolate(maps[i], size=size, mode="nearest")
        return [out(m) for out, m in zip(self.outs, maps)]


class Levels(nn.Module):
    def __init__(self, width: int = 16, levels: int = 3):
        super().__init__()
        self.convs = nn.ModuleList(nn.Conv2d(width, width, 3, padding=1) for _ in range(levels))

    def forward(self, maps):
        return [c(m) for c, m in zip(self.convs, maps)]


class Stacked(nn.Module):
    def __init__(self, dim: int = 16, levels: int = 3):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(dim, dim) for _ in range(levels))

    def forward(self, rows):
        return [layer(row) for layer, row in zip(self.layers, rows)]


class Triple(nn.Module):
    def __init__(self, dim: int = 16, depth: int = 4):
        super().__init__()
        self.queries = nn.ModuleList(nn.Linear(dim, dim) for _ in range(depth))
        self.values = nn.ModuleList(nn.Linear(dim, 2 * dim) for _ in range(depth))

    def forward(self, x):
        found = [q(t).mT @ v(t) for q, v, t in zip(self.queries, self.values, x)]
        return torch.stack(found)


class Numbered(nn.Module):
    def __init__(self, dim: int = 16, depth: int = 4):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(dim, dim) for _ in range(depth))

    def forward(self, x):
        parts = x.split(2, dim=1)
        total = 0
        for i, (layer, part) in enumerate(zip(self.layers, parts)):
            total = total + layer(part).sum() * i
        return total


class Bands(nn.Module):
    def __init__(self, widths, out: int = 12):
        super().__init__()
        self.widths = list(widths)
        self.layers = nn.ModuleList(nn.Linear(w, out) for w in self.widths)

    def forward(self, x):
        parts = x.split(self.widths, dim=-1)
        return torch.stack([layer(p) for layer, p in zip(self.layers, parts)], dim=1)

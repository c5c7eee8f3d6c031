"""Calls that look at their data: masks, sorted rows, early exits, routed tokens."""

import torch
import torch.nn.functional as F
from torch import nn


class AnyMask(nn.Module):
    def __init__(self, dim: int = 8):
        super().__init__()
        self.fc, self.slow = nn.Linear(dim, dim), nn.Linear(dim, 6 * dim)

    def forward(self, x, mask):
        return self.slow(x) if torch.any(~mask) else self.fc(x)


class EarlyExit(nn.Module):
    def __init__(self, dim: int = 8, depth: int = 4):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(dim, dim) for _ in range(depth))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
            if x.abs().max() < 1e-3:
                break
        return x


class Chosen(nn.Module):
    def __init__(self, dim: int = 8):
        super().__init__()
        self.fc = nn.Linear(dim, dim)

    def forward(self, x, mask):
        return self.fc(x[mask])


class Filled(nn.Module):
    def __init__(self, dim: int = 8):
        super().__init__()
        self.fc = nn.Linear(dim, dim)

    def forward(self, x, mask):
        y = x.masked_fill(~mask[..., None], 0)
        y[:, -1:] += 1
        return self.fc(y).where(mask[..., None], x)


class SortedRows(nn.Module):
    def __init__(self, dim: int = 8, keep: int = 3):
        super().__init__()
        self.keep = keep
        self.fc = nn.Linear(dim, dim)

    def forward(self, x):
        order = x.sum(-1).argsort(1, descending=True)[:, : self.keep]
        rows = x.take_along_dim(order[..., None], 1)
        return x.scatter_add(1, order[..., None].expand_as(rows), self.fc(rows))


class Packed(nn.Module):
    def __init__(self, dim: int = 8, experts: int = 4):
        super().__init__()
        self.gate = nn.Linear(dim, experts)
        self.w = nn.Parameter(torch.randn(experts, dim, dim))

    def forward(self, x):
        rows = x.flatten(0, 1)
        chosen = self.gate(rows).argmax(-1)
        counts = torch.bincount(chosen, minlength=self.w.shape[0]).tolist()
        parts = rows[chosen.argsort()].split(counts)
        return torch.cat([part @ w for part, w in zip(parts, self.w)])


class Longest(nn.Module):
    def __init__(self, dim: int = 8):
        super().__init__()
        self.fc = nn.Linear(dim, dim)

    def forward(self, x, lengths):
        return self.fc(x[:, : int(lengths.max())])


class Padded(nn.Module):
    def __init__(self, dim: int = 8, vocab: int = 20):
        super().__init__()
        self.table = nn.Embedding(vocab, dim, padding_idx=0)
        self.fc = nn.Linear(dim, dim)

    def forward(self, ids):
        mask = (ids != 0).float()[..., None]
        y = self.fc(self.table(ids)) * mask
        return y.sum(1) / mask.sum(1).clamp(min=1)


class PairLists(nn.Module):
    def __init__(self, dim: int = 8):
        super().__init__()
        self.fc = nn.Linear(dim, dim)

    def forward(self, maps):
        longest = max(m.shape[1] for m in maps)
        return torch.stack([F.pad(self.fc(m), (0, 0, 0, longest - m.shape[1])) for m in maps])


class Rotated(nn.Module):
    def __init__(self, dim: int = 8):
        super().__init__()
        self.fc = nn.Linear(dim, dim, bias=False)

    def forward(self, x):
        z = torch.view_as_complex(self.fc(x).unflatten(-1, (-1, 2)))
        turn = torch.polar(torch.ones_like(z.real), z.real)
        return torch.view_as_real(z * turn).flatten(-2) @ x.mT

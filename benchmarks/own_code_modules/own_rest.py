"""Branches on data, complex numbers, loops and gathers."""

import torch
import torch.nn.functional as F
from torch import nn


class DataBranch(nn.Module):
    def __init__(self, dim: int = 32):
        super().__init__()
        self.big = nn.Linear(dim, 8 * dim)
        self.small = nn.Linear(dim, 1)

    def forward(self, x):
        return self.big(x) if x.mean() > 0 else self.small(x)


class MaskBranch(nn.Module):
    def __init__(self, dim: int = 16):
        super().__init__()
        self.fc = nn.Linear(dim, dim)

    def forward(self, x, mask):
        if mask.all():
            return self.fc(x)
        return self.fc(self.fc(x) * mask[..., None])


class ComplexMatmul(nn.Module):
    def __init__(self, dim: int = 16):
        super().__init__()
        self.w = nn.Parameter(torch.randn(dim, dim, dtype=torch.complex64))

    def forward(self, x):
        return torch.complex(x, x) @ self.w


class SpectralConv1d(nn.Module):
    def __init__(self, channels: int = 8, modes: int = 6):
        super().__init__()
        self.modes = modes
        self.w = nn.Parameter(torch.randn(channels, channels, modes, dtype=torch.cfloat))

    def forward(self, x):
        found = torch.fft.rfft(x)
        out = x.new_zeros(x.shape[0], x.shape[1], x.shape[-1] // 2 + 1, dtype=torch.cfloat)
        out[:, :, : self.modes] = torch.einsum("bix,iox->box", found[:, :, : self.modes], self.w)
        return torch.fft.irfft(out, n=x.shape[-1])


class ComplexScores(nn.Module):
    def __init__(self, dim: int = 12):
        super().__init__()
        self.fc = nn.Linear(dim, dim, dtype=torch.complex64)

    def forward(self, x):
        z = self.fc(torch.view_as_complex(x))
        return torch.bmm(z, z.transpose(1, 2).conj()).abs()


class TopKMoE(nn.Module):
    def __init__(self, dim: int = 16, experts: int = 4, k: int = 2):
        super().__init__()
        self.gate = nn.Linear(dim, experts, bias=False)
        self.experts = nn.ModuleList(nn.Linear(dim, dim) for _ in range(experts))
        self.k = k

    def forward(self, x):
        flat = x.reshape(-1, x.shape[-1])
        weights, chosen = self.gate(flat).softmax(-1).topk(self.k)
        out = torch.zeros_like(flat)
        for i, expert in enumerate(self.experts):
            row, slot = torch.where(chosen == i)
            out[row] += expert(flat[row]) * weights[row, slot, None]
        return out.view_as(x)


class DynamicConv(nn.Module):
    def __init__(self, channels: int = 8, kernel: int = 3):
        super().__init__()
        self.kernel = kernel
        self.make = nn.Linear(channels, channels * kernel)

    def forward(self, x):
        b, c, n = x.shape
        weight = self.make(x.mean(-1)).view(b * c, 1, self.kernel)
        y = F.conv1d(x.reshape(1, b * c, n), weight, padding=self.kernel // 2, groups=b * c)
        return y.view(b, c, -1)


class LoopRNN(nn.Module):
    def __init__(self, dim: int = 12, hid: int = 20):
        super().__init__()
        self.cell = nn.GRUCell(dim, hid)
        self.hid = hid

    def forward(self, x):
        h = x.new_zeros(x.shape[0], self.hid)
        out = []
        for t in range(x.shape[1]):
            h = self.cell(x[:, t], h)
            out.append(h)
        return torch.stack(out, 1)


class HalvingWhile(nn.Module):
    def __init__(self, dim: int = 12):
        super().__init__()
        self.fc = nn.Linear(2 * dim, dim)

    def forward(self, x):
        while x.shape[1] > 1:
            n = x.shape[1] // 2
            x = self.fc(torch.cat([x[:, :n], x[:, n : 2 * n]], -1))
        return x[:, 0]


class Patchify(nn.Module):
    def __init__(self, channels: int = 3, dim: int = 16, patch: int = 4):
        super().__init__()
        self.patch = patch
        self.fc = nn.Linear(channels * patch * patch, dim)

    def forward(self, x):
        b, c, h, w = x.shape
        p = self.patch
        x = x.reshape(b, c, h // p, p, w // p, p).permute(0, 2, 4, 1, 3, 5)
        return self.fc(x.reshape(b, (h // p) * (w // p), c * p * p))


class Lookup(nn.Module):
    def __init__(self, rows: int = 30, dim: int = 8, tables: int = 3):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(rows, dim) for _ in range(tables))
        self.top = nn.Linear(dim * tables + 4, 5)

    def forward(self, dense, ids):
        found = [table(ids[:, i]) for i, table in enumerate(self.tables)]
        return self.top(torch.cat([dense, *found], 1))

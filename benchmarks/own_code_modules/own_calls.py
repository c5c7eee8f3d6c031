"""Classes whose forward() takes numbers, lists and defaults that decide what it costs."""

import torch
from torch import nn


class RingCache(nn.Module):
    def __init__(self, dim: int, max_len: int = 128):
        super().__init__()
        self.fc = nn.Linear(dim, dim, bias=False)
        self.register_buffer("cache", torch.zeros(16, max_len, dim))

    def forward(self, x, start_pos: int):
        b, s, d = x.shape
        self.cache[:b, start_pos : start_pos + s] = self.fc(x)
        keys = self.cache[:b, : start_pos + s]
        return (x @ keys.transpose(1, 2)).softmax(-1) @ keys


class Step(nn.Module):
    def __init__(self, dim: int = 64):
        super().__init__()
        self.fc = nn.Linear(dim, dim, bias=False)

    def forward(self, x, start: int):
        return self.fc(x[:, start:])


class Crop(nn.Module):
    def __init__(self, dim: int = 64):
        super().__init__()
        self.fc = nn.Linear(dim, dim, bias=False)

    def forward(self, x, crop: int):
        return self.fc(x[:, :crop])


class TopRows(nn.Module):
    def __init__(self, dim: int = 64):
        super().__init__()
        self.fc = nn.Linear(dim, dim)

    def forward(self, x, keep: int):
        scores = x.mean(-1)
        rows = scores.topk(keep, dim=1).indices
        return self.fc(torch.gather(x, 1, rows[..., None].expand(-1, -1, x.shape[-1])))


class CachedAttention(nn.Module):
    def __init__(self, dim: int, heads: int, max_len: int = 256):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)
        self.register_buffer("k", torch.zeros(8, heads, max_len, dim // heads))
        self.register_buffer("v", torch.zeros(8, heads, max_len, dim // heads))

    def forward(self, x, start_pos: int):
        b, s, d = x.shape
        q, k, v = (t.view(b, s, self.heads, -1).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        self.k[:b, :, start_pos : start_pos + s] = k
        self.v[:b, :, start_pos : start_pos + s] = v
        k, v = self.k[:b, :, : start_pos + s], self.v[:b, :, : start_pos + s]
        y = nn.functional.scaled_dot_product_attention(q, k, v)
        return self.out(y.transpose(1, 2).reshape(b, s, d))


class Scale(nn.Module):
    def __init__(self, dim: int = 32):
        super().__init__()
        self.fc = nn.Linear(dim, dim)

    def forward(self, x, factor: int = 2):
        return self.fc(x.repeat_interleave(factor, dim=1))


class ScriptedPart(nn.Module):
    def __init__(self, dim: int = 64, hidden: int = 96):
        super().__init__()
        self.up = nn.Linear(dim, hidden, bias=False)
        self.down = nn.Linear(hidden, dim, bias=False)

    def forward(self, x):
        return self.down(scripted_gelu(self.up(x)))


@torch.jit.script
def scripted_gelu(x: torch.Tensor) -> torch.Tensor:
    return x * 0.5 * (1.0 + torch.erf(x / 1.41421))


class Plain(nn.Module):
    def __init__(self, width: int, hidden: int):
        super().__init__()
        self.up = nn.Linear(width, hidden)
        self.down = nn.Linear(hidden, width)

    def forward(self, x):
        return self.down(torch.relu(self.up(x)))


class Repeat(nn.Module):
    def __init__(self, dim: int, repeats: int = 1):
        super().__init__()
        self.fc = nn.Linear(dim, dim)
        self.repeats = repeats

    def forward(self, x):
        for _ in range(self.repeats):
            x = self.fc(x)
        return x


class Between(nn.Module):
    def __init__(self, dim: int = 32):
        super().__init__()
        self.fc = nn.Linear(dim, dim)

    def forward(self, x, start: int, stop: int):
        return self.fc(x[:, start:stop])


class Pieces(nn.Module):
    def __init__(self, dim: int = 24):
        super().__init__()
        self.fc = nn.Linear(dim, 2 * dim)

    def forward(self, x, pieces: int):
        return torch.cat([self.fc(part) for part in x.chunk(pieces, dim=1)], dim=1)


class Strided(nn.Module):
    def __init__(self, dim: int = 24):
        super().__init__()
        self.fc = nn.Linear(dim, dim)

    def forward(self, x, stride: int):
        return self.fc(x[:, ::stride])


class Rounds(nn.Module):
    def __init__(self, dim: int = 24, depth: int = 1, wide: bool = False, out=None):
        super().__init__()
        self.inner = nn.ModuleList(nn.Linear(dim, dim) for _ in range(depth))
        self.head = nn.Linear(dim, out or (4 * dim if wide else dim))

    def forward(self, x, rounds: int = 1):
        for _ in range(rounds):
            for layer in self.inner:
                x = layer(x)
        return self.head(x)


class Masked(nn.Module):
    def __init__(self, dim: int = 24, mode: str = "none"):
        super().__init__()
        self.fc = nn.Linear(dim, dim)
        self.extra = nn.Linear(dim, dim) if mode == "double" else None

    def forward(self, x, mask=None):
        y = self.fc(x)
        if self.extra is not None:
            y = self.extra(y)
        return y if mask is None else self.fc(y * mask[..., None])

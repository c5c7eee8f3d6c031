"""Layers held, sliced, tied and tapered as people write them; views, masks and paddings of their inputs."""

import functools

import torch
import torch.nn.functional as F
from torch import nn
from widths import squeezed


class Squeeze(nn.Module):
    def __init__(self, channels: int = 24, ratio: float = 0.3):
        super().__init__()
        self.reduce = nn.Conv2d(channels, squeezed(channels, ratio), 1)
        self.expand = nn.Conv2d(squeezed(channels, ratio), channels, 1)

    def forward(self, x):
        scale = F.adaptive_avg_pool2d(x, 1)
        return x * self.expand(self.reduce(scale).relu()).sigmoid()


class PerStep(nn.Module):
    def __init__(self, dim: int = 8, depth: int = 4):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(dim, dim) for _ in range(depth))

    def forward(self, x):
        return torch.stack([layer(part) for layer, part in zip(self.layers, x.unbind(1))], 1)


class SplitRest(nn.Module):
    def __init__(self, dim: int = 8, size: int = 4):
        super().__init__()
        self.size = size
        self.body, self.tail = nn.Linear(dim, dim), nn.Linear(dim, 3 * dim)

    def forward(self, x):
        *parts, rest = torch.split(x, self.size, dim=1)
        return [self.body(part) for part in parts], self.tail(rest)


class PartialMlp(nn.Module):
    def __init__(self, dim: int = 8, norm_layer=functools.partial(nn.LayerNorm, eps=1e-6)):
        super().__init__()
        dense = functools.partial(nn.Linear, bias=False)
        self.norm, self.up, self.down = norm_layer(dim), dense(dim, 4 * dim), dense(4 * dim, dim)
        self.act = functools.partial(F.gelu, approximate="tanh")

    def forward(self, x):
        return x + self.down(self.act(self.up(self.norm(x))))


class Diagonal(nn.Module):
    def __init__(self, dim: int = 8):
        super().__init__()
        self.w = nn.Parameter(torch.randn(dim, dim))

    def forward(self, x):
        scores = torch.einsum("bid,bjd->bij", x, x)
        own = torch.einsum("bii->bi", scores)
        total = torch.einsum("bi,bid->bd", own, x)
        return torch.einsum("bd,de->be", total, self.w) * torch.einsum("dd->d", self.w)


class MaskedSteps(nn.Module):
    def __init__(self, dim: int = 8):
        super().__init__()
        self.step = nn.Linear(2 * dim, dim)

    def forward(self, x, mask):
        state = torch.zeros_like(x[:, 0])
        for t in range(x.shape[1]):
            new = torch.tanh(self.step(torch.cat([x[:, t], state], -1)))
            state = torch.where(mask[:, t, None], new, state)
        return state


class SkippedSteps(nn.Module):
    def __init__(self, dim: int = 8):
        super().__init__()
        self.fc = nn.Linear(dim, dim)

    def forward(self, x, mask):
        total = torch.zeros_like(x[:, 0])
        for t in range(x.shape[1]):
            if not mask[:, t].any():
                continue
            total = total + self.fc(x[:, t])
        return total


class DictHeld(nn.Module):
    def __init__(self, dim: int = 8, out: int = 5):
        super().__init__()
        self.paths = {"low": nn.Linear(dim, out), "high": nn.Linear(dim, 2 * out)}

    def forward(self, x):
        return torch.cat([layer(x) for _, layer in sorted(self.paths.items())], -1)


class HalfGate(nn.Module):
    def __init__(self, dim: int = 8, hidden: int = 14):
        super().__init__()
        self.up = nn.Linear(dim, hidden)
        self.down = nn.Linear(self.half, dim)

    @property
    def half(self):
        return self.up.out_features // 2

    def forward(self, x):
        y = self.up(x)
        return self.down(y[..., : self.half] * y[..., -self.half :].sigmoid())


class Codebook(nn.Module):
    def __init__(self, dim: int = 8, codes: int = 10):
        super().__init__()
        self.register_buffer("codes", torch.randn(codes, dim))

    @torch.no_grad()
    def forward(self, x):
        rows = x.flatten(0, -2)
        far = rows.pow(2).sum(1, keepdim=True) - 2 * rows @ self.codes.t() + self.codes.pow(2).sum(1)
        return self.codes[far.argmin(1)].view_as(x)


class TiedHead(nn.Module):
    def __init__(self, vocab: int = 30, dim: int = 8):
        super().__init__()
        self.table = nn.Embedding(vocab, dim)
        self.head = nn.Linear(dim, vocab, bias=False)
        self.head.weight = self.table.weight

    def forward(self, ids):
        return self.head(F.layer_norm(self.table(ids), (self.table.embedding_dim,)))


class Slim(nn.Module):
    def __init__(self, most: int = 40, out: int = 12, keep: int = 7):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.randn(out, most)), nn.Parameter(torch.zeros(out))
        self.keep = keep

    def forward(self, x):
        return F.linear(x, self.weight[: self.keep, : x.shape[-1]], self.bias[: self.keep])


class AddedInPlace(nn.Module):
    def __init__(self, dim: int = 8):
        super().__init__()
        self.fc = nn.Linear(dim, dim)

    def forward(self, x):
        y = x.clone()
        y[:, 1:] += self.fc(x[:, :-1])
        y[..., : x.shape[-1] // 2].mul_(2)
        y.transpose(0, 1)[0].relu_()
        return self.fc(y[:, ::2])


class Shifted(nn.Module):
    def __init__(self, dim: int = 8, kernel: int = 3):
        super().__init__()
        self.conv = nn.Conv1d(dim, dim, kernel, padding=kernel - 1)
        self.extra = kernel - 1

    def forward(self, x):
        y = F.pad(self.conv(x), (0, -self.extra))
        return y + F.pad(x, (1, -1))


class LastChannels(nn.Module):
    def __init__(self, channels: int = 3, out: int = 8):
        super().__init__()
        self.conv, self.fc = nn.Conv2d(channels, out, 3, padding=1), nn.Linear(out, out)

    def forward(self, x):
        y = self.conv(x.permute(0, 3, 1, 2)).relu()
        return self.fc(y.flatten(2).transpose(1, 2))


class Messages(nn.Module):
    def __init__(self, dim: int = 8):
        super().__init__()
        self.fc = nn.Linear(dim, dim)

    def forward(self, x, edges):
        source, target = edges
        sent = self.fc(x[source])
        got = torch.zeros_like(x).scatter_add(0, target[:, None].expand_as(sent), sent)
        degree = torch.zeros(x.shape[0], device=x.device).index_add_(0, target, torch.ones_like(sent[:, 0]))
        return self.fc(got) / degree.clamp(min=1)[:, None]


class Stretched(nn.Module):
    def __init__(self, dim: int = 8):
        super().__init__()
        self.fc = nn.Linear(dim, dim)

    def forward(self, x, counts):
        return self.fc(x.repeat_interleave(counts, dim=1))


class Counted(nn.Module):
    def __init__(self, dim: int = 8):
        super().__init__()
        self.fc = nn.Linear(dim, dim)

    def forward(self, x):
        kept = (x > 0.5).any(-1, keepdim=True) & ~(x > 0.9).all(-1, keepdim=True)
        count = (x > 0.5).sum(1)
        return (self.fc(x) * kept).sum(1) / count.clamp(min=1)


class Positive(nn.Module):
    def __init__(self, dim: int = 8):
        super().__init__()
        self.fc = nn.Linear(dim, dim)

    def forward(self, x):
        (found,) = torch.where(x.flatten() > 0)
        return self.fc(x), found


class EveryOther(nn.Module):
    def __init__(self, dim: int = 8, depth: int = 5):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(dim, dim) for _ in range(depth))

    def forward(self, x):
        for layer in self.layers[::-2]:
            x = layer(x)
        return torch.cat(x.split(1, 1)[::-1], 1)


class Columns(nn.Module):
    def __init__(self, channels: int = 3, out: int = 6, kernel: int = 3):
        super().__init__()
        self.kernel = kernel
        self.fc = nn.Linear(channels * kernel * kernel, out)

    def forward(self, x):
        return self.fc(F.unfold(x, self.kernel, padding=1).mT)

"""Numbers that Python makes of sizes: whole ones, floats, words, lists."""

import functools
import itertools
import math
import statistics
from fractions import Fraction

import numpy as np
import torch
from torch import nn


class Blocks(nn.Module):
    def __init__(self, block: int = 4):
        super().__init__()
        self.block = block
        self.fc = nn.Linear(block, 2 * block)

    def forward(self, x):
        whole = x.shape[-1] // self.block * self.block
        return self.fc(x[..., :whole].reshape(x.shape[0], -1, self.block))


class Square(nn.Module):
    def __init__(self, dim: int = 12):
        super().__init__()
        self.fc = nn.Linear(dim, dim)

    def forward(self, x):
        side = min(x.shape[1:3])
        part = x[:, :side, :side]
        return self.fc(part) + self.fc(part.transpose(1, 2))


class Funnel(nn.Module):
    def __init__(self, dim: int = 48):
        super().__init__()
        layers = []
        while dim > 1:
            layers.append(nn.Linear(dim, dim // 2))
            dim //= 2
        self.layers = nn.Sequential(*layers)

    def forward(self, x):
        return self.layers(x)


class Grid(nn.Module):
    def __init__(self, dim: int = 12):
        super().__init__()
        self.fc = nn.Linear(dim, 3 * dim)

    def forward(self, x):
        side = math.isqrt(x.shape[1])
        return self.fc(x[:, : side * side].unflatten(1, (side, side)).amax(2))


class PowerOfTwo(nn.Module):
    def __init__(self, dim: int = 40):
        super().__init__()
        self.fc = nn.Linear(dim, 2 ** int(math.log2(dim)))

    def forward(self, x):
        return self.fc(x)


class CommonGroups(nn.Module):
    def __init__(self, cin: int = 12, cout: int = 18):
        super().__init__()
        self.conv = nn.Conv1d(cin, cout, 3, padding=1, groups=math.gcd(cin, cout))

    def forward(self, x):
        return self.conv(x)


class Bits(nn.Module):
    def __init__(self, dim: int = 8, experts: int = 5):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(dim, dim) for _ in range(experts.bit_length()))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Remainder(nn.Module):
    def __init__(self, dim: int = 8, window: int = 4):
        super().__init__()
        self.window = window
        self.whole, self.rest = nn.Linear(dim, dim), nn.Linear(dim, 3 * dim)

    def forward(self, x):
        windows, rest = divmod(x.shape[1], self.window)
        y = self.whole(x[:, : windows * self.window])
        return (y, self.rest(x[:, -rest:])) if rest else (y, None)


class MeanWidth(nn.Module):
    def __init__(self, inner: int = 20, outer: int = 44, bottom: int = 8):
        super().__init__()
        middle = int(statistics.mean([inner, outer, bottom]))
        self.up, self.down = nn.Linear(inner, middle), nn.Linear(middle, outer)

    def forward(self, x):
        return self.down(self.up(x))


class FlatHead(nn.Module):
    def __init__(self, channels: int = 4, height: int = 6, width: int = 5, classes: int = 7):
        super().__init__()
        self.head = nn.Linear(int(np.prod([channels, height, width])), classes)

    def forward(self, x):
        return self.head(x.flatten(1))


class ItemOf(nn.Module):
    def __init__(self, dim: int = 10):
        super().__init__()
        self.fc = nn.Linear(dim, dim)

    def forward(self, x):
        half = torch.tensor(x.shape[1]).item() // 2
        return self.fc(x[:, :half])


class Rows(nn.Module):
    def __init__(self, dim: int = 10):
        super().__init__()
        self.fc = nn.Linear(dim, dim)

    def forward(self, x):
        rows = x.numel() // x.size(-1)
        return self.fc(x.reshape(rows, -1)[: rows - len(x)])


class EveryThird(nn.Module):
    def __init__(self, dim: int = 10):
        super().__init__()
        self.fc = nn.Linear(dim, dim)

    def forward(self, x):
        return torch.stack([self.fc(x[:, i]) for i in range(0, x.shape[1], 3)], 1)


class Backwards(nn.Module):
    def __init__(self, dim: int = 10):
        super().__init__()
        self.fc = nn.Linear(dim, dim)

    def forward(self, x):
        total = 0
        for i in range(x.shape[1] - 1, 0, -2):
            total = total + self.fc(x[:, i])
        return total


class LastFew(nn.Module):
    def __init__(self, dim: int = 10, last: int = 5):
        super().__init__()
        self.last = last
        self.fc = nn.Linear(dim, dim)

    def forward(self, x):
        return self.fc(x[:, -self.last :])


class Middle(nn.Module):
    def __init__(self, dim: int = 10):
        super().__init__()
        self.fc = nn.Linear(dim, dim)

    def forward(self, x):
        n = x.shape[1]
        return self.fc(x[:, n // 3 : -(n // 4)])


class Ordered(nn.Module):
    def __init__(self, dim: int = 10, hidden: int = 30, out: int = 20):
        super().__init__()
        low, mid, high = sorted([dim, hidden, out])
        self.first, self.second, self.third = nn.Linear(dim, low), nn.Linear(low, mid), nn.Linear(mid, high)

    def forward(self, x):
        return self.third(self.second(self.first(x)))


class ByWord(nn.Module):
    def __init__(self, dim: int = 12, depth: int = 11):
        super().__init__()
        digits = len(f"{depth}")
        self.layers = nn.ModuleDict({f"layer{i}": nn.Linear(dim, dim) for i in range(digits)})

    def forward(self, x):
        for layer in self.layers.values():
            x = layer(x)
        return x


class HalfEven(nn.Module):
    def __init__(self, dim: int = 10):
        super().__init__()
        self.fc = nn.Linear(dim, dim)

    def forward(self, x):
        return self.fc(x[:, : round(x.shape[1] / 2)])


class Levels2(nn.Module):
    def __init__(self, dim: int = 4):
        super().__init__()
        self.conv = nn.Conv2d(dim, dim, 3, padding=1)

    def forward(self, x):
        for _ in range(int(math.log2(min(x.shape[-2:])))):
            x = nn.functional.avg_pool2d(self.conv(x), 2)
        return x


class CeilLog(nn.Module):
    def __init__(self, dim: int = 6, codes: int = 12):
        super().__init__()
        self.fc = nn.Linear(dim, math.ceil(math.log(codes, 3)))

    def forward(self, x):
        return self.fc(x)


class Ones(nn.Module):
    def __init__(self, dim: int = 6):
        super().__init__()
        self.fc = nn.Linear(dim, dim)

    def forward(self, x):
        y = x.new_zeros(x.shape[0], x.shape[2])
        for bit in format(x.shape[1], "b"):
            if bit == "1":
                y = self.fc(y + x[:, 0])
        return y


class OddUp(nn.Module):
    def __init__(self, dim: int = 6, kernel: int = 4):
        super().__init__()
        self.conv = nn.Conv1d(dim, dim, kernel | 1, padding=kernel >> 1)

    def forward(self, x):
        return self.conv(x)


class IfPower(nn.Module):
    def __init__(self, dim: int = 8):
        super().__init__()
        self.fc, self.slow = nn.Linear(dim, dim), nn.Linear(dim, 4 * dim)

    def forward(self, x):
        n = x.shape[1]
        return self.fc(x) if n & (n - 1) == 0 else self.slow(x)


class IfInt(nn.Module):
    def __init__(self, dim: int = 8):
        super().__init__()
        self.fc, self.other = nn.Linear(dim, dim), nn.Linear(dim, 5 * dim)

    def forward(self, x):
        n = x.shape[1]
        return self.fc(x) if isinstance(n, int) and type(n) is int else self.other(x)


class AmongSizes(nn.Module):
    def __init__(self, dim: int = 8):
        super().__init__()
        self.fc, self.wide = nn.Linear(dim, dim), nn.Linear(dim, 3 * dim)
        self.chosen = {32: 2, 64: 4}.get(dim, 1)

    def forward(self, x):
        for _ in range(self.chosen):
            x = self.fc(x)
        return self.wide(x) if x.shape[1] in {7, 9} else x


class ByText(nn.Module):
    def __init__(self, dim: int = 8):
        super().__init__()
        self.fc = nn.Linear(dim, dim)
        self.times = {"32": 2, "64": 4}.get(f"{dim}", 1)

    def forward(self, x):
        for _ in range(self.times):
            x = self.fc(x)
        return x if str(x.shape[1]) != "9" else self.fc(x)


TUNED = {128 * i: i for i in range(1, 21)}


class Tuned(nn.Module):
    def __init__(self, dim: int = 8):
        super().__init__()
        self.fc = nn.Linear(dim, dim * TUNED.get(dim, 1))

    def forward(self, x):
        return self.fc(x)


class EvenHalf(nn.Module):
    def __init__(self, dim: int = 8):
        super().__init__()
        self.fc, self.odd = nn.Linear(dim, dim), nn.Linear(dim, 3 * dim)

    def forward(self, x):
        half = x.shape[1] / 2
        return self.fc(x) if half.is_integer() else self.odd(x)


class NumpySteps(nn.Module):
    def __init__(self, dim: int = 8):
        super().__init__()
        self.fc = nn.Linear(dim, dim)

    def forward(self, x):
        kept = np.arange(0, x.shape[1], 3)
        return self.fc(x[:, : len(kept)]) + self.fc(x[:, : int(np.ceil(x.shape[1] / 3))])


class Thirds(nn.Module):
    def __init__(self, dim: int = 24):
        super().__init__()
        self.fc = nn.Linear(dim, math.floor(Fraction(dim, 3) * 2))

    def forward(self, x):
        return self.fc(x)


class Divisors(nn.Module):
    def __init__(self, dim: int = 12):
        super().__init__()
        heads = max(h for h in range(1, 9) if dim % h == 0)
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        return ((q @ k.mT).softmax(-1) @ v).transpose(1, 2).flatten(2)


class Pairs(nn.Module):
    def __init__(self, dim: int = 6):
        super().__init__()
        self.fc = nn.Linear(2 * dim, dim)

    def forward(self, fields):
        pairs = itertools.combinations(range(fields.shape[1]), 2)
        return sum(self.fc(torch.cat([fields[:, i], fields[:, j]], -1)) for i, j in pairs)


class StepRates(nn.Module):
    def __init__(self, dim: int = 8, depth: int = 4, rate: float = 0.4):
        super().__init__()
        rates = [r.item() for r in torch.linspace(0, rate, depth)]
        self.layers = nn.ModuleList(nn.Linear(dim, dim) for r in rates if r < 0.3)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Tapered(nn.Module):
    def __init__(self, dim: int = 40, depth: int = 3, ratio: float = 0.6):
        super().__init__()
        widths = [int(dim * ratio**i) for i in range(depth + 1)]
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in itertools.pairwise(widths))

    def forward(self, x):
        return functools.reduce(lambda y, layer: layer(y), self.layers, x)


class Compared(nn.Module):
    def __init__(self, dim: int = 8):
        super().__init__()
        self.fc, self.long = nn.Linear(dim, dim), nn.Linear(dim, 3 * dim)

    def forward(self, x, y):
        short = x.shape[1] <= 0.75 * y.shape[1] or any(n > 50 for n in y.shape)
        return self.fc(x) if short else self.long(y)


class Shaped(nn.Module):
    def __init__(self, dim: int = 8, heads: int = 2):
        super().__init__()
        self.heads = heads
        self.q = nn.Linear(dim, dim)

    def forward(self, x):
        shape = x.shape[:-1] + (self.heads, x.shape[-1] // self.heads)
        q = self.q(x).view(torch.Size(shape)).transpose(1, 2)
        wanted = torch.broadcast_shapes(q.shape, (1, 1, 1, q.shape[-1]))
        return (q.expand(wanted) @ q.mT).reshape(x.shape[0], shape[:2].numel() // x.shape[0], -1)


class UpTo(nn.Module):
    def __init__(self, dim: int = 8, most: int = 16):
        super().__init__()
        self.most = most
        self.fc = nn.Linear(dim, dim)

    def forward(self, x, stop=None):
        stop = min(stop or x.shape[1], self.most)
        return self.fc(x[:, :stop])


class Tried(nn.Module):
    def __init__(self, dim: int = 8):
        super().__init__()
        self.fc, self.quads = nn.Linear(dim, dim), nn.Linear(4 * dim, dim)

    def forward(self, x):
        try:
            return self.quads(x.view(x.shape[0], x.shape[1] // 4, 4 * x.shape[2]))
        except RuntimeError:
            return self.fc(x)


class Unrolled(nn.Module):
    def __init__(self, dim: int = 8, kernel: int = 5, step: int = 2):
        super().__init__()
        self.kernel, self.step = kernel, step
        self.fc = nn.Linear(dim * kernel, dim)

    def forward(self, x):
        return self.fc(x.unfold(1, self.kernel, self.step).flatten(2))


class Quarters(nn.Module):
    def __init__(self, dim: int = 8):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(dim, dim * (i + 1)) for i in range(4))

    def forward(self, x):
        return [layer(part) for layer, part in zip(self.layers, x.chunk(4, dim=1))]


class Parted(nn.Module):
    def __init__(self, dim: int = 8):
        super().__init__()
        self.near, self.far = nn.Linear(dim, dim), nn.Linear(dim, 3 * dim)

    def forward(self, x):
        third = x.shape[1] // 3
        near, far = x.split([third, x.shape[1] - third], dim=1)
        return self.near(near), self.far(far)

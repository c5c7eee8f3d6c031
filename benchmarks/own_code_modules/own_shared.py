"""Modules that share, wrap, hook and override; calls that torch transforms."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from own_kept import Constant
from torch import nn
from torch.nn.utils import parametrizations, parametrize
from torch.utils.checkpoint import checkpoint


class Twice(nn.Module):
    def __init__(self, dim: int = 8, depth: int = 3):
        super().__init__()
        block = nn.Sequential(nn.Linear(dim, dim), nn.GELU())
        self.layers = nn.ModuleList([block] * depth)
        self.tied = nn.Linear(dim, dim, bias=False)
        self.tied.weight = block[0].weight

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.tied(x)


class Nested(nn.Module):
    def __init__(self, dim: int = 8, depth: int = 2):
        super().__init__()
        self.stages = nn.ModuleDict(
            {
                name: nn.ModuleDict({"mlp": nn.Linear(dim, k * dim), "out": nn.Linear(k * dim, dim)})
                for k, name in enumerate(["a", "b", "c"], 1)
            }
        )
        self.depth = depth

    def forward(self, x):
        for name in list(self.stages)[: self.depth]:
            x = x + self.stages[name]["out"](self.stages[name]["mlp"](x).relu())
        return x


class Base(nn.Module):
    def __init__(self, dim: int = 8):
        super().__init__()
        self.fc = nn.Linear(dim, dim)

    def forward(self, x):
        return self.fc(x)


class Derived(Base):
    def __init__(self, dim: int = 8, extra: int = 5):
        super().__init__(dim)
        self.head = nn.Linear(dim, extra)

    def forward(self, x):
        return self.head(super().forward(x) + super().forward(x[:, :1]))


class Called(nn.Module):
    def __init__(self, dim: int = 8):
        super().__init__()
        self.fc = Calling(dim)

    def forward(self, x):
        return self.fc(x)


class Calling(nn.Linear):
    def __init__(self, dim):
        super().__init__(dim, dim)

    def __call__(self, x):
        return super().__call__(super().__call__(x))


class Functional(nn.Module):
    def __init__(self, dim: int = 8):
        super().__init__()
        self.inner = nn.Linear(dim, dim)

    def forward(self, x):
        doubled = {name: 2 * value for name, value in self.inner.named_parameters()}
        return torch.func.functional_call(self.inner, doubled, (x,)) + self.inner(x)


class Inference(nn.Module):
    def __init__(self, dim: int = 8):
        super().__init__()
        self.fc = nn.Linear(dim, dim)

    @torch.inference_mode()
    def forward(self, x):
        return self.fc(x.transpose(1, 2).contiguous().transpose(1, 2))


class Autocast(nn.Module):
    def __init__(self, dim: int = 8):
        super().__init__()
        self.fc = nn.Linear(dim, dim)

    def forward(self, x):
        with torch.autocast(x.device.type, torch.bfloat16, enabled=x.device.type == "cpu"):
            y = self.fc(x)
        return y.float().softmax(-1)


class Checked(nn.Module):
    def __init__(self, dim: int = 8):
        super().__init__()
        self.up, self.down = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)

    def forward(self, x):
        return checkpoint(lambda y: self.down(F.gelu(self.up(y))), x, use_reentrant=False)


class Mapped(nn.Module):
    def __init__(self, dim: int = 8):
        super().__init__()
        self.w = nn.Parameter(torch.randn(dim, dim))

    def forward(self, x, y):
        return torch.vmap(lambda a, b: a @ self.w @ b.mT)(x, y)


class Normed(nn.Module):
    def __init__(self, dim: int = 8, out: int = 12):
        super().__init__()
        self.a = parametrizations.weight_norm(nn.Linear(dim, out))
        self.b = parametrizations.spectral_norm(nn.Linear(out, dim))

    def forward(self, x):
        return self.b(self.a(x))


class Symmetric(nn.Module):
    def __init__(self, dim: int = 8):
        super().__init__()
        self.fc = nn.Linear(dim, dim)
        parametrize.register_parametrization(self.fc, "weight", Mirror())

    def forward(self, x):
        return self.fc(self.fc(x))


class Mirror(nn.Module):
    def forward(self, w):
        return w.triu() + w.triu(1).mT


class Hooked(nn.Module):
    def __init__(self, dim: int = 8):
        super().__init__()
        self.fc = nn.Linear(dim, dim)
        self.fc.register_forward_pre_hook(lambda module, args: (args[0][:, ::2],))
        self.fc.register_forward_hook(lambda module, args, out: out @ out.mT)

    def forward(self, x):
        return self.fc(x)


class OtherFile(nn.Module):
    def __init__(self, dim: int = 8):
        super().__init__()
        self.inner = Constant(2 * dim)

    def forward(self, x):
        return self.inner(torch.cat([x, x], -1))


@dataclass
class Found:
    rows: torch.Tensor
    lengths: list


class Answer(nn.Module):
    def __init__(self, dim: int = 8):
        super().__init__()
        self.fc = nn.Linear(dim, dim)

    def forward(self, x, y=None):
        maps = [self.fc(x), *([] if y is None else [self.fc(y)])]
        return Found(torch.cat(maps, 1), [m.shape[1] for m in maps])


class Straight(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        return (x.round() @ w).relu()

    @staticmethod
    def backward(ctx, grad):
        return grad, None


class Estimated(nn.Module):
    def __init__(self, dim: int = 8):
        super().__init__()
        self.w = nn.Parameter(torch.randn(dim, 3 * dim))

    def forward(self, x):
        return Straight.apply(x, self.w)


class Switched(nn.Module):
    def __init__(self, dim: int = 8, p: float = 0.1):
        super().__init__()
        self.fc, self.extra = nn.Linear(dim, dim), nn.Linear(dim, 2 * dim)
        self.drop = nn.Dropout(p)

    def forward(self, x):
        y = self.drop(self.fc(x))
        return self.extra(y) if self.training else y


class Outs(nn.Module):
    def __init__(self, dim: int = 8):
        super().__init__()
        self.w = nn.Parameter(torch.randn(dim, dim))

    def forward(self, x):
        y = torch.empty(x.shape[0], x.shape[1], self.w.shape[1], device=x.device)
        torch.matmul(x, self.w, out=y)
        y[:, ::2].mul_(2).add_(x[:, ::2])
        y.transpose(1, 2)[:, 0].zero_()
        return y.expand(2, *y.shape).reshape(-1, y.shape[-1])

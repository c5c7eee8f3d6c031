"""Attention as people write it."""

import math

import torch
import torch.nn.functional as F
from torch import nn


class AttentionBlock(nn.Module):
    def __init__(self, channels, num_heads=1, use_new_attention_order=False):
        super().__init__()
        self.num_heads = num_heads
        self.new_order = use_new_attention_order
        self.norm = nn.GroupNorm(8, channels)
        self.qkv = nn.Conv1d(channels, 3 * channels, 1)
        self.proj_out = nn.Conv1d(channels, channels, 1)

    def forward(self, x):
        b, c, *spatial = x.shape
        x = x.reshape(b, c, -1)
        qkv = self.qkv(self.norm(x))
        length, ch = x.shape[-1], c // self.num_heads
        if self.new_order:
            q, k, v = (t.reshape(b * self.num_heads, ch, length) for t in qkv.chunk(3, dim=1))
        else:
            q, k, v = qkv.reshape(b * self.num_heads, ch * 3, length).split(ch, dim=1)
        scale = 1 / math.sqrt(math.sqrt(ch))
        weight = torch.einsum("bct,bcs->bts", q * scale, k * scale).softmax(-1)
        a = torch.einsum("bts,bcs->bct", weight, v).reshape(b, -1, length)
        return (x + self.proj_out(a)).reshape(b, c, *spatial)


class Grouped(nn.Module):
    def __init__(self, n_head: int = 8, n_kv: int = 2, head_dim: int = 16):
        super().__init__()
        self.n_head, self.n_kv, self.head_dim = n_head, n_kv, head_dim
        dim = n_head * head_dim
        self.q = nn.Linear(dim, dim, bias=False)
        self.kv = nn.Linear(dim, 2 * n_kv * head_dim, bias=False)

    def forward(self, x):
        b, s, d = x.shape
        q = self.q(x).view(b, s, self.n_head, -1).transpose(1, 2)
        k, v = (t.view(b, s, self.n_kv, -1).transpose(1, 2) for t in self.kv(x).chunk(2, -1))
        k, v = (t.repeat_interleave(self.n_head // self.n_kv, dim=1) for t in (k, v))
        return F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, s, d)


class GroupedFlag(nn.Module):
    def __init__(self, n_head: int = 6, n_kv: int = 3, head_dim: int = 16):
        super().__init__()
        self.n_head, self.n_kv, self.head_dim = n_head, n_kv, head_dim
        dim = n_head * head_dim
        self.q = nn.Linear(dim, dim, bias=False)
        self.k = nn.Linear(dim, n_kv * head_dim, bias=False)

    def forward(self, x):
        b, s, d = x.shape
        q = self.q(x).view(b, s, self.n_head, -1).transpose(1, 2)
        k = self.k(x).view(b, s, self.n_kv, -1).transpose(1, 2)
        return F.scaled_dot_product_attention(q, k, k, enable_gqa=True).transpose(1, 2).reshape(b, s, d)


class GroupedExpand(nn.Module):
    def __init__(self, n_head: int = 6, n_kv: int = 3, head_dim: int = 8):
        super().__init__()
        self.n_head, self.n_kv, self.head_dim = n_head, n_kv, head_dim
        self.rep = n_head // n_kv
        self.k = nn.Linear(n_head * head_dim, n_kv * head_dim, bias=False)

    def forward(self, x):
        b, s, d = x.shape
        q = x.view(b, s, self.n_head, -1).transpose(1, 2)
        k = self.k(x).view(b, s, self.n_kv, 1, -1).expand(-1, -1, -1, self.rep, -1)
        k = k.reshape(b, s, self.n_kv * self.rep, -1).transpose(1, 2)
        return ((q @ k.transpose(2, 3)).softmax(-1) @ k).transpose(1, 2).reshape(b, s, d)


class LinearAttention(nn.Module):
    def __init__(self, dim: int = 32, heads: int = 4, chunk: int = 16):
        super().__init__()
        self.heads, self.chunk = heads, chunk
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)

    def forward(self, x):
        b, s, d = x.shape
        q, k, v = (t.view(b, s, self.heads, -1).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        state = x.new_zeros(b, self.heads, q.shape[-1], q.shape[-1])
        out = []
        for i in range(0, s, self.chunk):
            qc, kc, vc = (t[:, :, i : i + self.chunk] for t in (q, k, v))
            out.append(qc @ state + (qc @ kc.transpose(-1, -2)).tril() @ vc)
            state = state + kc.transpose(-1, -2) @ vc
        return torch.cat(out, dim=2).transpose(1, 2).reshape(b, s, d)


class ShiftWindow(nn.Module):
    def __init__(self, dim: int = 16, window: int = 4):
        super().__init__()
        self.window = window
        self.qkv = nn.Linear(dim, 3 * dim)

    def forward(self, x):
        b, h, w, c = x.shape
        n = self.window
        x = torch.roll(x, (-(n // 2), -(n // 2)), (1, 2))
        x = x.view(b, h // n, n, w // n, n, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, n * n, c)
        q, k, v = self.qkv(x).chunk(3, -1)
        y = (q @ k.transpose(1, 2)).softmax(-1) @ v
        y = y.view(b, h // n, w // n, n, n, c).permute(0, 1, 3, 2, 4, 5).reshape(b, h, w, c)
        return torch.roll(y, (n // 2, n // 2), (1, 2))


class Local(nn.Module):
    def __init__(self, dim: int = 16, window: int = 8):
        super().__init__()
        self.window = window
        self.qkv = nn.Linear(dim, 3 * dim)

    def forward(self, x):
        b, s, d = x.shape
        pad = -s % self.window
        q, k, v = F.pad(self.qkv(x), (0, 0, 0, pad)).view(b, -1, self.window, 3 * d).chunk(3, -1)
        return F.scaled_dot_product_attention(q, k, v).reshape(b, s + pad, d)[:, :s]

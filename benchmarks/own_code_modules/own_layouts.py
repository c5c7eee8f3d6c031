"""Classes whose tensors are not laid out in order."""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class FromFactory(nn.Module):
    def __init__(self, cin: int = 8, cout: int = 16):
        super().__init__()
        self.block = nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1, bias=False), nn.BatchNorm2d(cout))

    def forward(self, x):
        return torch.relu(self.block(x))


class Tagger(nn.Module):
    def __init__(self, vocab: int = 50, width: int = 6, hid: int = 8, tags: int = 5):
        super().__init__()
        self.embedding = nn.Embedding(vocab, width)
        self.lstm = nn.LSTM(width, hid, num_layers=2, batch_first=True)
        self.head = nn.Linear(hid, tags)

    def forward(self, ids):
        return self.head(self.lstm(self.embedding(ids))[0])


class GruTagger(nn.Module):
    def __init__(self, width: int = 6, hid: int = 8, tags: int = 5):
        super().__init__()
        self.gru = nn.GRU(width, hid, batch_first=True, bidirectional=True)
        self.head = nn.Linear(2 * hid, tags)

    def forward(self, x):
        out, last = self.gru(x)
        return self.head(out).sum(1) + self.head(last.transpose(0, 1).reshape(x.shape[0], -1))


class LastStep(nn.Module):
    def __init__(self, width: int = 6, hid: int = 8):
        super().__init__()
        self.rnn = nn.RNN(width, hid)
        self.head = nn.Linear(hid, 3)

    def forward(self, x):
        out, _ = self.rnn(x.transpose(0, 1))
        return self.head(out.transpose(0, 1)), self.head(out[-1])


class Patch(nn.Module):
    def __init__(self, channels: int = 3, dim: int = 16, patch: int = 4):
        super().__init__()
        self.conv = nn.Conv2d(channels, dim, patch, stride=patch)
        self.fc = nn.Linear(dim, dim)

    def forward(self, image):
        return self.fc(self.conv(image).flatten(2).transpose(1, 2))


class Spread(nn.Module):
    def __init__(self, dim: int = 16):
        super().__init__()
        self.fc = nn.Linear(dim, 3 * dim)

    def forward(self, x, y):
        return self.fc(x[:, None].expand(-1, y.shape[1], -1)) + self.fc(y)


class Sliced(nn.Module):
    def __init__(self, dim: int = 16):
        super().__init__()
        self.fc = nn.Linear(dim, dim)
        self.part = nn.Linear(dim // 2, dim, bias=False)

    def forward(self, x):
        return self.fc(x[:, ::2]), self.part(x[..., : x.shape[-1] // 2])


class ChannelsNorm(nn.Module):
    def __init__(self, channels: int = 12):
        super().__init__()
        self.depth = nn.Conv2d(channels, channels, 3, padding=1, groups=channels)
        self.norm = nn.LayerNorm(channels)
        self.fc = nn.Linear(channels, 4 * channels)

    def forward(self, x):
        y = self.norm(self.depth(x).permute(0, 2, 3, 1))
        return self.fc(y).permute(0, 3, 1, 2)


class EncoderUser(nn.Module):
    def __init__(self, dim: int = 24, heads: int = 4, hidden: int = 32):
        super().__init__()
        layer = nn.TransformerEncoderLayer(dim, heads, hidden, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)

    def forward(self, x):
        return self.encoder(x).mean(1)


class MHAUser(nn.Module):
    def __init__(self, dim: int = 24, heads: int = 4):
        super().__init__()
        self.attention = nn.MultiheadAttention(dim, heads, batch_first=True)

    def forward(self, x, context):
        return self.attention(x, context, context)[0]


class MHALast(nn.Module):
    def __init__(self, dim: int = 24, heads: int = 4):
        super().__init__()
        self.attention = nn.MultiheadAttention(dim, heads)
        self.fc = nn.Linear(dim, dim)

    def forward(self, x):
        y = self.attention(x, x, x, need_weights=False)[0]
        return self.fc(y.transpose(0, 1))


class Bags(nn.Module):
    def __init__(self, rows: int = 40, dim: int = 12):
        super().__init__()
        self.bag = nn.EmbeddingBag(rows, dim, mode="sum")
        self.fc = nn.Linear(dim, 2)

    def forward(self, ids):
        return self.fc(self.bag(ids))


class PackedTagger(nn.Module):
    def __init__(self, width: int = 10, hid: int = 12):
        super().__init__()
        self.lstm = nn.LSTM(width, hid, batch_first=True)

    def forward(self, x, lengths):
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        return pad_packed_sequence(self.lstm(packed)[0], batch_first=True)[0]


class ScriptedChild(nn.Module):
    def __init__(self, dim: int = 16):
        super().__init__()
        self.inner = torch.jit.script(nn.Linear(dim, dim))
        self.fc = nn.Linear(dim, dim)

    def forward(self, x):
        return self.fc(self.inner(x))

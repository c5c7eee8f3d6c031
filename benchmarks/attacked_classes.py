"""Small classes with right claims, written by hand: what `attack_claims` makes false claims of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Attacked:
    """A class by its file, its source, a right claim, and texts that make it wrong if replaced."""

    name: str
    code: str
    claim: Mapping[str, Any]
    dropped: tuple[tuple[str, str], ...] = ()
    changed: tuple[tuple[str, str], ...] = ()
    names: tuple[str, ...] = ("batch_size", "seq_len", "hidden_size")


HEAD = """\
import torch
from torch import nn


"""
B, L, H, A, W, S = (
    f"{{{n}}}" for n in ["batch_size", "seq_len", "hidden_size", "a_dtype_bytes", "w_dtype_bytes", "steps"]
)
X = f"{B} * {L} * {H}"
LAYER = f"{H} * ({H} + 1) * {W}"
REASON = "Written by hand."


def linear(line: int) -> dict[str, Any]:
    """The cost of a square layer."""
    return {
        "line": line,
        "flops": f"2 * {X} * {H}",
        "pointwise_ops": X,
        "reads": f"{X} * {A} + {LAYER}",
        "writes": f"{X} * {A}",
    }


def pointwise(line: int, of: str = X) -> dict[str, Any]:
    """The cost of one operation on each element."""
    return {"line": line, "pointwise_ops": of, "reads": f"{of} * {A}", "writes": f"{of} * {A}"}


SETTLE = Attacked(
    "settle",
    HEAD
    + """\
class Settle(nn.Module):
    def __init__(self, hidden_size: int = 32) -> None:
        super().__init__()
        self.layer = nn.Linear(hidden_size, hidden_size)
        self.out = nn.Linear(hidden_size, 4 * hidden_size)
        for one in self.layer.parameters():
            nn.init.uniform_(one, -0.25 / hidden_size, 0.25 / hidden_size)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(round(64 * x.abs().max().item()) % 5):
            x = self.layer(x)
        return self.out(x)
""",
    {
        "lines": [
            {
                "line": 14,
                "pointwise_ops": f"2 * {X}",
                "reads": f"2 * {X} * {A} + {A}",
                "writes": f"{X} * {A} + {A}",
            },
            {
                "line": 15,
                "flops": f"2 * {S} * {X} * {H}",
                "pointwise_ops": f"{S} * {X}",
                "reads": f"{S} * ({X} * {A} + {LAYER})",
                "writes": f"{S} * {X} * {A}",
            },
            {
                "line": 16,
                "flops": f"8 * {X} * {H}",
                "pointwise_ops": f"4 * {X}",
                "reads": f"{X} * {A} + 4 * {LAYER}",
                "writes": f"4 * {X} * {A}",
            },
        ],
        "weights": f"(4 + min({S}, 1)) * {LAYER}",
        "boundary": f"5 * {X} * {A} + (4 + min({S}, 1)) * {LAYER}",
        "intermediates": f"({S} + 1) * {X} * {A} + {A}",
        "peak": f"(4 + min({S}, 1)) * {X} * {A}",
        "counted": [{"name": "steps", "meaning": "how often the layer is applied", "line": 15}],
        "reasoning": REASON,
    },
    dropped=((f"min({S}, 1)", "1"), (f"min({S}, 1)", S), (f" + {A}", "")),
    changed=(
        (f"min({S}, 1)", f"min({S}, 2)"),
        (f"{H} + 1", f"{H} + 2"),
        (W, A),
        (f"{S} * ", f"min({S}, 3) * "),
    ),
)
LONG_TURN = f"min(1, {L} // 5001)"
LONG = Attacked(
    "long",
    HEAD
    + """\
class Long(nn.Module):
    def __init__(self, hidden_size: int = 32) -> None:
        super().__init__()
        self.fc = nn.Linear(hidden_size, hidden_size)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.fc(x)
        if x.shape[1] > 5000:
            y = y * 2
        return torch.relu(y)
""",
    {
        "lines": [linear(11), pointwise(13, f"{LONG_TURN} * {X}"), pointwise(14)],
        "weights": LAYER,
        "boundary": f"2 * {X} * {A} + {LAYER}",
        "intermediates": f"(1 + {LONG_TURN}) * {X} * {A}",
        "peak": f"2 * {X} * {A}",
        "reasoning": REASON,
    },
    dropped=((LONG_TURN, "0"), (f" + {LONG_TURN}", "")),
    changed=(
        (LONG_TURN, f"({L} // 5001)"),
        ("5001", "5000"),
        ("5001", "5002"),
        (LONG_TURN, f"min(2, {L} // 5001)"),
        (W, A),
    ),
)
SHORT = f"min({L}, 4096)"
WINDOW = Attacked(
    "window",
    HEAD
    + """\
class Window(nn.Module):
    def __init__(self, hidden_size: int = 32) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(hidden_size))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(x)
        return y[:, :4096] * self.scale
""",
    {
        "lines": [
            pointwise(11),
            {
                "line": 12,
                "pointwise_ops": f"{B} * {SHORT} * {H}",
                "reads": f"{B} * {SHORT} * {H} * {A} + {H} * {W}",
                "writes": f"{B} * {SHORT} * {H} * {A}",
            },
        ],
        "weights": f"{H} * {W}",
        "boundary": f"{X} * {A} + {B} * {SHORT} * {H} * {A} + {H} * {W}",
        "intermediates": f"{X} * {A}",
        "peak": f"{X} * {A} + {B} * {SHORT} * {H} * {A}",
        "reasoning": REASON,
    },
    dropped=((SHORT, L), (f" + {H} * {W}", "")),
    changed=(("4096", "4095"), ("4096", "4097"), ("4096", "8192"), (W, A), (SHORT, f"({L} % 4097)")),
)
STRIDED = f"ceil({L} / 7)"
STRIDE = Attacked(
    "stride",
    HEAD
    + """\
class Stride(nn.Module):
    def __init__(self, hidden_size: int = 32) -> None:
        super().__init__()
        self.fc = nn.Linear(hidden_size, hidden_size)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.fc(x)
        return torch.relu(y[:, ::7])
""",
    {
        "lines": [linear(11), pointwise(12, f"{B} * {STRIDED} * {H}")],
        "weights": LAYER,
        "boundary": f"{X} * {A} + {B} * {STRIDED} * {H} * {A} + {LAYER}",
        "intermediates": f"{X} * {A}",
        "peak": f"{X} * {A} + {B} * {STRIDED} * {H} * {A}",
        "reasoning": REASON,
    },
    dropped=((STRIDED, f"floor({L} / 7)"), (f" + {LAYER}", f" + {H} * {H} * {W}")),
    changed=(
        (STRIDED, f"floor(({L} + 5) / 7)"),
        (STRIDED, f"ceil(min({L}, 8000) / 7)"),
        (STRIDED, f"max(1, floor({L} / 7))"),
    ),
)
SCORES = Attacked(
    "scores",
    HEAD
    + """\
class Scores(nn.Module):
    def __init__(self, hidden_size: int = 32) -> None:
        super().__init__()
        self.fc = nn.Linear(hidden_size, hidden_size)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.fc(x)
        return torch.bmm(y, y.transpose(1, 2))
""",
    {
        "lines": [
            linear(11),
            {
                "line": 12,
                "flops": f"2 * {X} * {L}",
                "reads": f"{X} * {A}",
                "writes": f"{B} * {L} * {L} * {A}",
            },
        ],
        "weights": LAYER,
        "boundary": f"{X} * {A} + {B} * {L} * {L} * {A} + {LAYER}",
        "intermediates": f"{X} * {A}",
        "peak": f"{X} * {A} + {B} * {L} * {L} * {A}",
        "reasoning": REASON,
    },
    dropped=((f" + {LAYER}", f" + {H} * {H} * {W}"), (f" + {B} * {L} * {L} * {A}", "")),
    changed=(
        (f"{L} * {L}", f"{L} * min({L}, 6000)"),
        (f"{L} * {L}", f"max({L} * {L}, 4)"),
        (f"2 * {X}", f"(2 + floor({H} / 5000)) * {X}"),
    ),
)
CLASSES = (SETTLE, LONG, WINDOW, STRIDE, SCORES)

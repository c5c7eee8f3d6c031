"""The classes as cases.toml lists them, and flops by hand where torch's counter falls short."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

LIST = Path(__file__).resolve().parent / "own_code_modules" / "cases.toml"
Sizes = Mapping[str, int]


@dataclass(frozen=True)
class Case:
    """A class, the options of its command, and sizes at which its formulas are held against a live call.

    `negative` inputs lie below 0: the side of a branch on data that a run without values takes.
    """

    name: str
    file: str
    init: str
    inputs: tuple[str, ...]
    points: tuple[str, ...]
    negative: bool = False
    flops: Callable[[Sizes], int] | None = None
    scale: int = 1
    """Real flops for each that torch's counter tells."""
    by_hand: str = ""
    """What its products cost, in the sizes of its points; torch's counter is asked as well."""

    @property
    def target(self) -> str:
        """The class as the command takes it."""
        return f"{self.file}:{self.name}"

    @property
    def options(self) -> list[str]:
        """The options of the command."""
        said = [("--init", text) for text in self.init.split()] + [("--input", text) for text in self.inputs]
        return [word for pair in said for word in pair]

    @property
    def sizes(self) -> list[dict[str, int]]:
        """The points."""
        words = (point.split() for point in self.points)
        return [{n: int(v) for n, _, v in (word.partition("=") for word in point)} for point in words]


def _recurrent(gates: int, layers: int, directions: int = 1) -> Callable[[Sizes], int]:
    """Flops of the products of a stack of recurrent layers, without what follows it."""

    def flops(s: Sizes) -> int:
        first, later = s["width"] + s["hid"], directions * s["hid"] + s["hid"]
        steps = s["batch_size"] * s["seq_len"]
        return 2 * steps * directions * gates * s["hid"] * (first + (layers - 1) * later)

    return flops


def _tagger(s: Sizes) -> int:
    return _recurrent(4, 2)(s) + 2 * s["batch_size"] * s["seq_len"] * s["hid"] * s["tags"]


def _gru_tagger(s: Sizes) -> int:
    head = 2 * s["batch_size"] * (s["seq_len"] + 1) * 2 * s["hid"] * s["tags"]
    return _recurrent(3, 1, 2)(s) + head


def _last_step(s: Sizes) -> int:
    return _recurrent(1, 1)(s) + 2 * s["batch_size"] * (s["seq_len"] + 1) * s["hid"] * 3


def _packed(s: Sizes) -> int:
    return _recurrent(4, 1)(s)


def _loop_rnn(s: Sizes) -> int:
    return 2 * s["batch_size"] * s["seq_len"] * 3 * s["hid"] * (s["dim"] + s["hid"])


def _normed(s: Sizes) -> int:
    products = 4 * s["batch_size"] * s["seq_len"] * s["dim"] * s["out"]
    return products + 2 * s["dim"] * s["out"] + 2 * s["dim"]  # the spectral norm is u . (W v)


BY_HAND: Mapping[str, Callable[[Sizes], int]] = {
    "Tagger": _tagger,
    "GruTagger": _gru_tagger,
    "LastStep": _last_step,
    "PackedTagger": _packed,
    "LoopRNN": _loop_rnn,
    "Normed": _normed,
}
"""Flops where torch's counter does not see the product."""
COMPLEX = {"ComplexMatmul", "SpectralConv1d", "ComplexScores"}
"""Classes whose products are of complex numbers: torch counts 2 where 8 real flops are done."""


def cases() -> list[Case]:
    """Every case of the list, in its order."""
    listed = tomllib.loads(LIST.read_text(encoding="utf-8"))
    return [
        Case(
            name,
            told["file"],
            told.get("init", ""),
            tuple(told["inputs"]),
            tuple(told["points"]),
            told.get("negative", False),
            BY_HAND.get(name),
            4 if name in COMPLEX else 1,
            told.get("flops", ""),
        )
        for name, told in listed.items()
    ]

"""This processor in; what it achieves at most out, measured: products of matrices and copies, with spread.

A figure of a processor holds for this machine, this library and this number of threads; it is no datasheet's.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

ROUNDS = 7


@dataclass(frozen=True)
class MeasuredPeak:
    """The best of several rounds, their median and the whole range; `what` says what was run."""

    what: str
    unit: str
    best: float
    median: float
    worst: float
    rounds: int

    @property
    def spread(self) -> float:
        """How far the rounds lie apart, as a share of the best."""
        return (self.best - self.worst) / self.best


def measure_cpu(dtype_name: str, size: int = 1024, rounds: int = ROUNDS) -> MeasuredPeak:
    """flop/s of one product of square matrices in a format."""
    import torch

    dtype = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16, "fp64": torch.float64}
    left = torch.randn(size, size).to(dtype[dtype_name])
    right = torch.randn(size, size).to(dtype[dtype_name])
    out = torch.empty(size, size, dtype=dtype[dtype_name])
    with torch.inference_mode():
        rates = _rates(lambda: torch.mm(left, right, out=out), 2 * size**3, rounds)
    return _peak(f"{dtype_name} {size}x{size} @ {size}x{size}, torch.mm", "flop/s", rates)


def measure_copy(bytes_each: int = 1 << 27, rounds: int = ROUNDS) -> MeasuredPeak:
    """Bytes per second of a copy much larger than caches: each byte is read once and written once."""
    import torch

    source = torch.zeros(bytes_each, dtype=torch.uint8)
    target = torch.empty_like(source)
    rates = _rates(lambda: target.copy_(source), 2 * bytes_each, rounds)
    return _peak(f"copy of {bytes_each >> 20} MiB, read and written", "byte/s", rates)


def _rates(call: Callable[[], object], amount: int, rounds: int) -> list[float]:
    for _ in range(2):
        call()
    found: list[float] = []
    for _ in range(rounds):
        start = perf_counter()
        call()
        found.append(amount / (perf_counter() - start))
    return found


def _peak(what: str, unit: str, rates: list[float]) -> MeasuredPeak:
    return MeasuredPeak(what, unit, max(rates), statistics.median(rates), min(rates), len(rates))

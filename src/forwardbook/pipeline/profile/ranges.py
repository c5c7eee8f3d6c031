"""A model in; the NVTX ranges that a run of it makes, as they are nested, out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

from forwardbook.models.architecture import Architecture
from forwardbook.profiling.tools.range_expressions import Range, Stack

PHASES = ("encode", "prefill", "decode", "forward")


def phase_stacks(domain: str) -> list[Stack]:
    """Each phase by itself."""
    return [(Range(name, domain),) for name in PHASES]


def module_stacks(architecture: Architecture, domain: str) -> Iterator[Stack]:
    """Each module within each phase and within the modules around it, by their paths."""
    paths: dict[str, None] = {}
    for top in architecture.layers:
        for name, _, _ in top.walk():
            paths.update(dict.fromkeys(one for one in expanded(name) if one))
    for path in paths:
        around = [other for other in paths if path.startswith(f"{other}.")]
        names = [*sorted(around, key=len), path]
        for phase in PHASES:
            yield (Range(phase, domain), *(Range(name, domain) for name in names))


def expanded(name: str) -> Iterator[str]:
    """The paths that a name with ranges of numbers stands for: `layers.0-2.mlp` has three."""
    parts = [_numbers(part) for part in name.split(".")]
    return (".".join(one) for one in product(*parts))


def _numbers(part: str) -> list[str]:
    if not re.fullmatch(r"\d+(-\d+)?(,\d+(-\d+)?)*", part):
        return [part]
    found: list[str] = []
    for one in part.split(","):
        first, _, last = one.partition("-")
        found += [str(number) for number in range(int(first), int(last or first) + 1)]
    return found

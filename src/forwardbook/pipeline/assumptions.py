"""The source of a class and of those it calls in; what formulas of it take for granted out, in words."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from forwardbook.analyzers.reader import Autocast, Facts, autocasts


def uncast(facts: Facts, classes: Iterable[str]) -> tuple[str, ...]:
    """Where code that runs asks for automatic casting, which meta tensors do not take part in."""
    found = [one for name in classes if not name.startswith("torch.") for one in _within(name)]
    if not facts.full_class_name.startswith("torch."):  # torch itself casts nothing on its own account
        found = [*autocasts(facts.name, Path(facts.file)), *found]
    return tuple(
        dict.fromkeys(
            f"{one.code} at {one.file}:{one.line} does not reach the meta device: "
            "what runs inside is counted in the types that it has without"
            for one in found
        )
    )


def _within(name: str) -> tuple[Autocast, ...]:
    """Those of a class that ran; a module of no package is found by its file."""
    module, _, last = name.rpartition(".")
    file = getattr(sys.modules.get(module), "__file__", None)
    return autocasts(name) if file is None else autocasts(last, Path(file))

"""Parts of torch as they are before analysed code runs; out the names of those that it replaced."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Final

_OWNERS: Final = ("torch.nn.Module", "torch.Tensor", "torch.nn.functional")  # torch replaces names of its own


class TorchParts:
    """What names of torch's classes and functions meant when this was made."""

    def __init__(self) -> None:
        self._before = _parts()

    def replaced(self) -> list[str]:
        """The full names that mean something else now; those that are new are none of them."""
        return [
            f"{owner}.{name}"
            for owner, now in _parts().items()
            for name, value in now.items()
            if self._before.get(owner, {}).get(name, value) is not value
        ]


def _parts() -> dict[str, Mapping[str, object]]:
    found: dict[str, Mapping[str, object]] = {}
    for name in _OWNERS:
        first, *rest = name.split(".")
        owner: object = sys.modules.get(first)
        for part in rest:
            owner = getattr(owner, part, None)
        if owner is not None:
            found[name] = dict(getattr(owner, "__dict__", {}))
    return found

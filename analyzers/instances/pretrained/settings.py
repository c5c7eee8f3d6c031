"""A config and settings in; out the config with them: plain names, paths, and `*.` for every part.

`{"hidden": 3}` sets a field of the config itself, `{"vision_config.depth": 3}` one of a part, and
`{"*.depth": 3}` that of every part that has it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, cast

from forwardbook.analyzers.instances.pretrained.guards import FALSY, TRUTHY

if TYPE_CHECKING:
    from transformers import PreTrainedConfig

EVERY = "*."


def put(
    config: PreTrainedConfig,
    parts: Iterable[PreTrainedConfig],
    settings: Mapping[str, object],
    new: bool = False,
) -> None:
    """Sets the fields; `new` ones too that the config lacks.

    Raises:
        ValueError: where no part has a field that is set.
    """
    every = list(parts)
    for name, value in settings.items():
        owner: object = config
        *path, field = name.removeprefix(EVERY).split(".")
        for step in path:
            owner = getattr(owner, step)
        owners = every if name.startswith(EVERY) else [cast("PreTrainedConfig", owner)]
        holding = [part for part in owners if new or field in part.__dict__]
        if not holding:
            raise ValueError(f"{type(config).__name__} has no {field}")
        for part in holding:
            part.__dict__[field] = _meant(part, field, value)


def _meant(config: PreTrainedConfig, name: str, value: object) -> object:
    """A value of the field's kind, where only true or false was asked for.

    Raises:
        ValueError: where no such value is known.
    """
    if not (isinstance(value, str) and value in (TRUTHY, FALSY)):
        return value
    before = config.__dict__[name]
    if bool(before) == (value == TRUTHY):
        return before
    if value == FALSY:
        return False if isinstance(before, bool) else 0 if isinstance(before, int | float) else None
    if isinstance(before, bool):
        return True
    if isinstance(before, list | tuple):
        return [0]
    hint = str(getattr(type(config), "__annotations__", {}).get(name, ""))
    if isinstance(before, float) or "float" in hint:
        return 0.5
    if isinstance(before, int) or "int" in hint:
        return 2
    if before is None and "bool" in hint or not hint:
        return True
    raise ValueError(f"{type(config).__name__}: nothing is known that {name} may be")

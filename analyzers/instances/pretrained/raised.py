"""An error in; out the expressions that raised it, whole, with their frames, and the fields they name."""

from __future__ import annotations

import inspect
import linecache
import re
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Final

import torch

#: The folders of torch and of this package (the third above this file's own).
_PLUMBING: Final = tuple(f"{folder}/" for folder in (Path(torch.__file__).parent, Path(__file__).parents[3]))
_READ: Final = re.compile(r"config\.(\w+)")
_NESTED: Final = re.compile(r"config\.\w+_config\.(\w+)")
_OWN: Final = re.compile(r"self\.(\w+)")
FRAMES = 3
"""Lines of the traceback that are looked at, from the one that raised upwards."""


def expressions_of(error: BaseException) -> list[tuple[FrameType, str]]:
    """Frames from the one that raised outwards, each with the lines of what it evaluated, joined.

    Those of torch, and of what calls the model, name no field and no parameter of it.
    """
    walked = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    told = traceback.extract_tb(error.__traceback__)
    pairs = zip(reversed(walked), reversed(told), strict=True)
    return [(frame, _text(one)) for frame, one in pairs if not one.filename.startswith(_PLUMBING)]


def _text(one: traceback.FrameSummary) -> str:
    """A call that goes over several lines names its arguments on the others."""
    first = one.lineno or 0
    lines = (linecache.getline(one.filename, n).strip() for n in range(first, (one.end_lineno or first) + 1))
    return " ".join(lines)


def named_fields(error: BaseException) -> Iterator[str]:
    """The fields that the message and the lines that raised name, also by way of an attribute of self."""
    yield from re.findall(r"`(\w+)`", str(error))
    for frame, line in expressions_of(error)[:FRAMES]:
        yield from (*_READ.findall(line), *_NESTED.findall(line))
        owner = frame.f_locals.get("self")
        try:
            source = inspect.getsource(frame.f_code if owner is None else type(owner))
        except (OSError, TypeError):
            continue
        for name in (*_OWN.findall(line), *re.findall(r"\b(\w+)\b", line)):
            for text in re.findall(rf"(?:self\.)?\b{name} = (.*)", source):
                yield from _READ.findall(text)
                yield from re.findall(r"getattr\(config, \"(\w+)\"", text)


def lines_of(error: BaseException) -> str:
    """What raised, one below the other."""
    return "\n".join(text for _, text in expressions_of(error))

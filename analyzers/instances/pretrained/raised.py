"""An error in; out the expressions that raised it, whole, with the frames that evaluated them."""

from __future__ import annotations

import linecache
import traceback
from pathlib import Path
from types import FrameType
from typing import Final

import torch

#: The folders of torch and of this package (the third above this file's own).
_PLUMBING: Final = tuple(f"{folder}/" for folder in (Path(torch.__file__).parent, Path(__file__).parents[3]))


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

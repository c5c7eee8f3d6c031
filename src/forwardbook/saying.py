"""How what a regime assumes, and where its class is called, are written: how such a text begins and ends."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from typing import Final

BUILT: Final = "built with "  # how an assumption begins that says how the module was built: name=value
CALLED_WITH: Final = "called with "  # how one begins that says how forward() was called: name=value
LEFT_OUT: Final = "=None"  # how one ends about a field of the config without a value
CONFIGURED: Final = "a config with "  # how one begins about a field that is no size of a formula: name=JSON
TOLD: Final = "a constructor told "  # how one begins about what a holder chose beside the config: name=value
KEPT: Final = "a module with "  # how one begins about what tells it from others in its place: name=value
MODEL: Final = "below a "  # how one begins about the class of the model that it was called in
CUT: Final = "..."  # how one ends whose value is longer than what is told

OF_DATA: Final = "data"  # how the source of a size begins that only data decides
DATA: Final = "the value of a "  # how one begins about a number that only a run with data has
CHECKED: Final = f"{DATA}check of data, which holds"  # and of these the one that decides no branch
ROUTED: Final = "balanced routing: "  # how one begins about what weights would choose
SPELLED: Final = "the number of a size in a text: "  # and about a text that code goes on with
MASKED: Final = "a mask computed from weights "  # how one begins about a mask whose values nobody knows

CALLED_AS: Final = "called as "  # how the context of a regime begins that names places below a model
ALONE: Final = "called by itself"
TIMES: Final = "in the run that the formulas were read from, where loops and lists of layers are short"
_NUMBERS: Final = re.compile(r"\d+(-\d*)?(,\d+(-\d*)?)*")


def is_decided(assumption: str) -> bool:
    """Whether an assumption decides what only data knows: a branch, a number, which rows a mask keeps."""
    return assumption.startswith((DATA, MASKED)) and not assumption.startswith(CHECKED)


def at_place(place: str, path: str) -> bool:
    """Whether a path is of a place, whose `*` is any number; `0-2,5,8-` are these, and from 8 on all."""
    wanted, given = place.split("."), path.split(".")
    return len(wanted) == len(given) and all(map(_is_part, wanted, given))


def _is_part(wanted: str, given: str) -> bool:
    if wanted == given:
        return True
    if not _NUMBERS.fullmatch(given) or not (wanted == "*" or _NUMBERS.fullmatch(wanted)):
        return False
    return wanted == "*" or any(a[0] in b or b[0] in a for a in _ranges(wanted) for b in _ranges(given))


def _ranges(numbers: str) -> Iterator[range]:
    """`0-2,5,8-` as the ranges that it is."""
    for one in numbers.split(","):
        first, until, last = one.partition("-")
        yield range(int(first), int(last) + 1 if last else sys.maxsize if until else int(first) + 1)


def together(assumptions: Iterable[str]) -> list[str]:
    """Assumptions as people read them: what is said of single fields in one line for all of them."""
    lines: dict[str, dict[str, None]] = {}
    for begin, said in map(field_said, assumptions):
        lines.setdefault(begin, {})[said] = None
    return [begin + ", ".join(said) for begin, said in lines.items()]


def field_said(assumption: str) -> tuple[str, str]:
    """How an assumption about a single field begins, and `name=value`; any other, and nothing."""
    known = (BUILT, CALLED_WITH, CONFIGURED, TOLD, KEPT)
    begin = next((one for one in known if assumption.startswith(one)), assumption)
    return begin, assumption.removeprefix(begin)

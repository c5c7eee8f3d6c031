"""Classes that nothing reached, and models that could not be built for want of a package; out what is wanted.

A part that is tried by itself fails in its own way (its constructor is given what its model never gives it):
where each model of a unit wants a package that is not installed, that is the reason of them all.
"""

from __future__ import annotations

import linecache
import re
import traceback
from collections.abc import Mapping, Sequence

from forwardbook.errors import message_of
from forwardbook.pipeline.catalogue.record import ClassResult, WayResult

_LONGEST = 2000  # characters of a message that are looked at
_WANTED = re.compile(r"(?:requires the |No module named ')([\w-]+)")


def with_packages(failed: Mapping[str, ClassResult], ways: Sequence[WayResult]) -> dict[str, ClassResult]:
    """Their reasons with the packages, where every model of the unit wants one; what exceptions say stays."""
    models = [way for way in ways if way.model_type]
    wanted = [way.lacks for way in models]
    if not models or not all(wanted):
        return dict(failed)
    packages = " and ".join(sorted(set(wanted)))
    reason = f"its models want a package that is not installed: {packages}"
    return {
        name: one if one.kind == "exception" else one.model_copy(update={"kind": "needs", "reason": reason})
        for name, one in failed.items()
    }


def wanted_package(error: BaseException) -> str:
    """The package that an import asked for, if code that ran names it; "" where no import failed."""
    told = _WANTED.search(message_of(error, _LONGEST)) if isinstance(error, ImportError) else None
    files = {frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__)}
    named = told is not None and any(
        re.search(rf"\b{re.escape(told[1])}\b", "".join(linecache.getlines(file))) for file in files
    )
    return told[1] if told is not None and named else ""

"""Classes that nothing reached, and models that could not be built for want of a package; out what is wanted.

A part that is tried by itself fails in its own way (its constructor is given what its model never gives it):
where each model of a unit wants a package that is not installed, that is the reason of them all.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from forwardbook.pipeline.catalogue.record import ClassResult, WayResult

_WANTED = re.compile(r"(?:requires the |No module named ')([\w-]+)")
_IMPORTS = re.compile(r"(ImportError|ModuleNotFoundError): ")


def with_packages(failed: Mapping[str, ClassResult], ways: Sequence[WayResult]) -> dict[str, ClassResult]:
    """Their reasons with the packages, where every model of the unit wants one; what exceptions say stays."""
    models = [way for way in ways if way.model_type]
    wanted = [_package(way.reason) for way in models]
    if not models or not all(wanted):
        return dict(failed)
    packages = " and ".join(sorted(set(wanted)))
    reason = f"its models want a package that is not installed: {packages}"
    return {
        name: one if one.kind == "exception" else one.model_copy(update={"kind": "needs", "reason": reason})
        for name, one in failed.items()
    }


def _package(reason: str) -> str:
    """The package that an import asked for; "" where no import failed."""
    told = _WANTED.search(reason) if _IMPORTS.match(reason) else None
    return told[1] if told else ""

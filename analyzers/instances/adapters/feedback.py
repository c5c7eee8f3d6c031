"""What a call that failed said in; out which of the inputs not yet tried come first: of that rank, or ids."""

from __future__ import annotations

import re
from collections.abc import Sequence

from forwardbook.analyzers.instances.adapters.plan import Plan

_RANKS = (
    re.compile(r"values to unpack \(expected (\d)(?:, got \d)?\)"),
    re.compile(r"expected (?:input to be |a )?(\d)D", re.IGNORECASE),
    re.compile(r"expected (\d) dims?\b", re.IGNORECASE),
    re.compile(r"must be (?:a )?(\d)[- ]?[dD]"),
    re.compile(r"should be (?:a )?(\d)[- ]?[dD]"),
)
_IDS = re.compile(
    r"scalar types: Long|expected (scalar type )?(Long|Int)|must be .*integer|used as indices", re.IGNORECASE
)
_SHAPE = re.compile(r"\b(?:floats|ones|mask|integers)\(([^()]*)\)")


def reordered(plans: Sequence[Plan], error: Exception) -> list[Plan]:
    """The plans in their order, those first that have what the error asks for; all as they were otherwise."""
    said = str(error)
    wanted = next((int(m[1]) for m in (pattern.search(said) for pattern in _RANKS) if m), 0)
    if wanted:
        return sorted(plans, key=lambda plan: wanted not in ranks(plan))
    if _IDS.search(said):
        return sorted(plans, key=lambda plan: not any("integers(" in text for text in _texts(plan)))
    return list(plans)


def ranks(plan: Plan) -> list[int]:
    """How many dimensions each tensor of a plan has; of ids the bound does not count."""
    found = []
    for text in _texts(plan):
        for match in _SHAPE.finditer(text):
            found.append(match[1].count(",") + 1 - match[0].startswith("integers"))
    return found


def _texts(plan: Plan) -> list[str]:
    return [*plan.positional, *plan.expressions.values()]

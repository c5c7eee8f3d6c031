"""An example's call in; out its inputs in the notation, dimensions named after what they agree with."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping

from forwardbook.analyzers.instances.adapters.examples import Example, Shown
from forwardbook.analyzers.instances.adapters.plan import Names, Plan
from forwardbook.analyzers.instances.adapters.shapes_tried import WIDTHS

_SIDES = re.compile(r".*(size|resolution|shape|height|width).*")
_EXTENTS = {3: ("seq_len",), 4: ("height", "width"), 5: ("frames", "height", "width")}


SHORT = 64
"""Positions of a sequence that do for a run where an example shows a thousand."""


def shown_plans(example: Example, forward: Callable[..., object], given: Mapping[str, int]) -> list[Plan]:
    """The call as it is shown, a batch apart: with short sequences, then as long as they are.

    None of both where it is not told, or does not fit the signature.
    """
    plans = [_plan(example, forward, given, short) for short in (True, False)]
    return [plan for plan in plans if plan is not None]


def _plan(
    example: Example, forward: Callable[..., object], given: Mapping[str, int], short: bool
) -> Plan | None:
    if not example.called:
        return None
    try:
        bound = inspect.signature(forward).bind(None, *example.positional, **example.named)
    except TypeError:
        return None
    names = Names(given)
    parameters = list(bound.signature.parameters.values())
    found: dict[str, str] = {}
    positional: list[str] = []
    for parameter in parameters[1:]:
        if parameter.name not in bound.arguments:
            continue
        value = bound.arguments[parameter.name]
        try:
            if parameter.kind is parameter.VAR_POSITIONAL:
                positional += [_expression(one, names, short) for one in value]
            elif parameter.kind is parameter.VAR_KEYWORD:
                found.update({key: _expression(one, names, short) for key, one in value.items()})
            else:
                found[parameter.name] = _expression(value, names, short)
        except TypeError:
            return None
    return Plan(found, names, tuple(positional))


def _expression(value: object, names: Names, short: bool) -> str:
    """TypeError where the notation has no word for it."""
    if isinstance(value, Shown):
        sizes = ", ".join(_dimension(value, index, names, short) for index in range(len(value.shape)))
        return f"integers(7, {sizes})" if value.kind == "integers" else f"{value.kind}({sizes})"
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)
    if isinstance(value, tuple | list):
        inside = ", ".join(_expression(one, names, short) for one in value)
        return f"[{inside}]" if isinstance(value, list) else f"({inside},)"
    raise TypeError(f"the notation has no {type(value).__name__}")


def _dimension(shown: Shown, index: int, names: Names, short: bool) -> str:
    """The first is the batch; others are sizes of the constructor that are as large, else free."""
    size, rank = shown.shape[index], len(shown.shape)
    if index == 0:
        return names.free("batch_size")
    extents = _EXTENTS.get(rank, ())
    extent = extents[index - (rank - len(extents))] if rank > 3 and index >= rank - len(extents) else ""
    if rank == 3 and index == 1:
        extent = "seq_len"
    if rank == 2 and shown.kind != "floats":
        extent = "seq_len"
    same = [name for name, value in names.given.items() if value == size]
    likely = [name for name in same if (_SIDES if extent in ("height", "width") else WIDTHS).fullmatch(name)]
    if short and extent == "seq_len" and size > SHORT:
        return names.free(extent)
    if likely:
        return names.argument(likely[0])
    if extent:
        return names.free(extent, size) if size > 1 else str(size)
    if same and size > 4:
        return names.argument(same[0])
    return str(size)

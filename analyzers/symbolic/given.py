"""A forward() and the arguments of one call in; which of its parameters the call gave, in one line, out.

What a call costs hangs on the optional inputs that it gives: a mask that is handed over is added, one that is
not is not made. The sizes do not tell.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

_CHOICES: Final = (bool, str)
"""Types of values that are told: they choose among the branches of a forward()."""
_PLAIN: Final = (*_CHOICES, int, float)
"""Types of values that may be the default; a symbolic size is none: to compare it is to ask for it."""
_LONG: Final = 40  # characters of a text that is a value; beyond it only the name is told
_Parameters = Sequence[inspect.Parameter]


def given(forward: Callable[..., object], args: Sequence[object], kwargs: Mapping[str, object]) -> str:
    """`hidden_states, attention_mask, use_cache=True`: neither None nor what is the default is told."""
    parameters = _parameters(forward)
    defaults = {one.name: one.default for one in parameters}
    order = {one.name: place for place, one in enumerate(parameters)}
    named = dict(_named(parameters, args)) | dict(kwargs)
    told = {
        name: _told(name, value)
        for name, value in named.items()
        if value is not None and not (type(value) in _PLAIN and value == defaults.get(name))
    }
    in_order = sorted(told, key=lambda name: (order.get(name, len(order)), name))
    return ", ".join(told[name] for name in in_order)


@lru_cache(maxsize=4096)
def _parameters(forward: Callable[..., object]) -> _Parameters:
    """Those of forward() without `self`; none where Python cannot tell them."""
    try:
        return tuple(inspect.signature(forward).parameters.values())[1:]
    except (TypeError, ValueError):
        return ()


def _named(parameters: _Parameters, args: Sequence[object]) -> Iterator[tuple[str, object]]:
    by_place = [one for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    for place, value in enumerate(args):
        yield (by_place[place].name if place < len(by_place) else f"argument {place + 1}"), value


def _told(name: str, value: object) -> str:
    text = f"{name}={value}" if type(value) in _CHOICES else name
    return text if len(text) <= _LONG else name

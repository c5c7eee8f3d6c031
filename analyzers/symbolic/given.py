"""A forward() and the arguments of one call in; which of its parameters the call gave, in one line, out.

What a call costs hangs on the optional inputs that it gives: a mask that is handed over is added, one that is
not is not made. It hangs on which of them are one tensor, too: that crosses the boundary once. The sizes tell
neither.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

from torch import Tensor
from torch.nn import Module

from forwardbook.analyzers.symbolic.shadows import tensors_in

CHOICES: Final = (bool, str)
"""Types of values that are told: they choose among the branches of a forward()."""
_PLAIN: Final = (*CHOICES, int, float)
"""Types of values that may be the default; a symbolic size is none: to compare it is to ask for it."""
LONG: Final = 40  # characters of a text that is a value; beyond it only the name is told
_ALIASES: Final = re.compile(r" aliases \w+")
_Parameters = Sequence[inspect.Parameter]
_Storage = Callable[[Tensor], int]


def given(
    forward: Callable[..., object],
    args: Sequence[object],
    kwargs: Mapping[str, object],
    storage: _Storage | None = None,
) -> str:
    """`query, key aliases query, use_cache=True`: neither None nor what is the default is told.

    `storage` numbers the memory that tensors lie in; what lies in that of an earlier parameter aliases it.
    """
    known = parameters(forward)
    defaults = {one.name: one.default for one in known}
    order = {one.name: place for place, one in enumerate(known)}
    values = dict(named(forward, args)) | dict(kwargs)
    told = {
        name: _told(name, value)
        for name, value in values.items()
        if value is not None and not (type(value) in _PLAIN and value == defaults.get(name))
    }
    in_order = sorted(told, key=lambda name: (order.get(name, len(order)), name))
    if storage is not None:
        told |= dict(_aliases({name: values[name] for name in in_order}, storage))
    return ", ".join(told[name] for name in in_order)


def forward_of(module: Module) -> Callable[..., object]:
    """The forward() of a module's class; of a scripted one, which has none in Python, one without names."""
    found: Callable[..., object] = getattr(type(module), "forward", _nameless)
    return found


def _nameless(module: Module, *args: object, **kwargs: object) -> object:
    return module.forward(*args, **kwargs)


def without_aliases(told: str) -> str:
    """The same line, and not which parameters are one tensor."""
    return _ALIASES.sub("", told)


def _aliases(values: Mapping[str, object], storage: _Storage) -> Iterator[tuple[str, str]]:
    """The parameters that lie in the memory of an earlier one, and how that is told."""
    first: dict[int, str] = {}
    for name, value in values.items():
        lies_in = [storage(tensor) for tensor in tensors_in(value)]
        other = next((first[one] for one in lies_in if one in first), None)
        if other is not None:
            yield name, f"{name} aliases {other}"
        first |= {one: name for one in lies_in if one not in first}


@lru_cache(maxsize=4096)
def parameters(method: Callable[..., object]) -> _Parameters:
    """Those of a forward() or a constructor without `self`; none where Python cannot tell them."""
    try:
        return tuple(inspect.signature(method).parameters.values())[1:]
    except (TypeError, ValueError):
        return ()


def named(forward: Callable[..., object], args: Sequence[object]) -> Iterator[tuple[str, object]]:
    """Positional arguments of a forward() under the names of its parameters."""
    known = parameters(forward)
    by_place = [one for one in known if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    for place, value in enumerate(args):
        yield (by_place[place].name if place < len(by_place) else f"argument {place + 1}"), value


def _told(name: str, value: object) -> str:
    text = f"{name}={value}" if type(value) in CHOICES else name
    return text if len(text) <= LONG else name

"""A model, and a class in its tree that its call left out, in; out the method that would call it.

As the code says: methods are read, and none is run.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from forwardbook.analyzers.instances.recipe import full_name

if TYPE_CHECKING:
    from torch import nn

_MENTIONED = re.compile(r"\bself\.(\w+)")
_NO_CALLS = re.compile(r"__\w+__|[gs]et_\w*embeddings|get_(en|de)coder|set_\w+|forward")
"""Methods that hand a part out, or put one in its place; and forward(), which is another matter."""


def caller_of(model: nn.Module, name: str) -> str:
    """The method nearest to the first instance of a class whose code speaks of what holds it.

    Methods for callers go first, then those that say it themselves. "" where only forward() comes to it, all
    the way up, or nothing does.
    """
    for owner, attribute in _above(model, name):
        said = mentions(type(owner))
        coming = [one for one in said if attribute in reached(one, said)]
        if "forward" in coming:
            continue
        methods = [one for one in coming if not _NO_CALLS.fullmatch(one)]
        if methods:
            best = min(methods, key=lambda one: (one.startswith("_"), attribute not in said[one]))
            return f"{type(owner).__name__}.{best}"
    return ""


def mentions(cls: type, within: str = "") -> dict[str, frozenset[str]]:
    """What each method of a class says of `self`, torch's own left out; those of packages `within` alone."""
    found: dict[str, frozenset[str]] = {}
    for one in reversed(cls.__mro__):
        if one.__module__.startswith(within) and not one.__module__.startswith("torch."):
            for name, function in vars(one).items():
                if inspect.isfunction(function):
                    found[name] = frozenset(_MENTIONED.findall(source_of(function)))
    return found


def reached(name: str, said: Mapping[str, frozenset[str]]) -> set[str]:
    """What a method says of `self`, and what the methods that it calls say, but for forward()."""
    seen, found, waiting = {"forward"} - {name}, set[str](), [name]
    while waiting:
        one = waiting.pop()
        if one not in seen:
            seen.add(one)
            found |= said[one]
            waiting += said[one] & said.keys()
    return found


def _above(model: nn.Module, name: str) -> Iterator[tuple[nn.Module, str]]:
    """The modules above the first instance of a class, the nearest first, and what each holds it under."""
    modules = dict(model.named_modules())
    path = next((p for p, m in modules.items() if full_name(type(m)) == name), "")
    while path:
        path, _, attribute = path.rpartition(".")
        if attribute in vars(modules[path])["_modules"] and not attribute.isdigit():
            yield modules[path], attribute


def source_of(function: Callable[..., object]) -> str:
    """The text of a function; "" where no file has it."""
    try:
        return inspect.getsource(function)
    except OSError:
        return ""

"""A class in; out ways to fill its constructor: as examples show, by its own defaults, as names suggest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from forwardbook.analyzers.instances.adapters.examples import Example, Made
from forwardbook.analyzers.instances.adapters.guesses import DEPTHS, GUESSES, arguments_of
from forwardbook.analyzers.instances.adapters.sized import bound, is_size
from forwardbook.analyzers.instances.recipe import NoRecipe

if TYPE_CHECKING:
    from torch import nn


def argument_sets(cls: type[nn.Module], examples: Sequence[Example] = ()) -> Iterator[dict[str, object]]:
    """Ways to fill the constructor, likeliest first: as shown and with few layers, as shown, as guessed.

    Raises:
        NoRecipe: where there is no example and nothing is known to fit some argument; it names them.
    """
    found: list[dict[str, object]] = []
    for example in examples:
        shown = bound(cls, example.made)
        if shown is not None:
            found += [_shallow(shown), shown]
    problem: NoRecipe | None = None
    for guess in GUESSES:
        try:
            guessed = arguments_of(cls, guess)
        except NoRecipe as error:
            problem = problem or error
            continue
        found += [_shallow(guessed), guessed]
    if not found and problem is not None:
        raise problem
    yield from (one for i, one in enumerate(found) if one not in found[:i])


def _shallow(arguments: Mapping[str, object]) -> dict[str, object]:
    """The arguments with fewer layers: two where there are more."""
    found: dict[str, object] = {}
    for name, value in arguments.items():
        if is_size(value) and DEPTHS.fullmatch(name):
            found[name] = min(cast(int, value), 2)
        elif isinstance(value, Made):
            found[name] = Made(value.cls, value.positional, _shallow(value.named))
        else:
            found[name] = value
    return found

"""What a person said of the inputs of forward() in; out the inputs, their sizes asked for by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, cast

from forwardbook.analyzers.instances.input_values import (
    Items,
    Plain,
    Shape,
    Size,
    Value,
    dimension_names,
    names_in,
    read_value,
)
from forwardbook.analyzers.instances.notation import Reader
from forwardbook.analyzers.instances.recipe import InputMaker, NoRecipe, Sizes

if TYPE_CHECKING:
    import torch

# Hints for dimensions named by the user: primes, so that no two agree by accident.
PRIMES: Final = (5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47)
NUMBERS: Final = (3, 2, 4, 6, 8, 9, 10)
"""Hints for numbers that are no dimension: smaller than what they may be positions in."""
ID_VALUES: Final = 7  # integer inputs count 0..6: valid as ids in all but the smallest tables


def values_of(target: str, specs: Mapping[str, str], words: frozenset[str] = frozenset()) -> dict[str, Value]:
    """What was said of each input; those of `words` are strings.

    Raises:
        NoRecipe: names the input that cannot be read, and why.
    """
    found: dict[str, Value] = {}
    for name, text in specs.items():
        try:
            found[name] = read_value(text, name in words)
        except ValueError as error:
            raise NoRecipe(target, f"--input {name}={text}: {error}") from error
    return found


def hints_for(values: Mapping[str, Value], known: Mapping[str, int]) -> dict[str, int]:
    """A hint for every name: the known one, else one that no other has, primes for dimensions."""
    hints = dict(known)
    for names, numbers in ((dimension_names, PRIMES), (names_in, NUMBERS)):
        free = (number for number in numbers if number not in known.values())
        for name in (name for value in values.values() for name in names(value)):
            if name not in hints:
                hints[name] = next(free, 53 + 2 * len(hints))
    return hints


def make_values(
    values: Mapping[str, Value], hints: Mapping[str, int], sizes: Sizes, maker: InputMaker
) -> dict[str, object]:
    """The keyword arguments for forward(), by parameter name."""
    dimensions = {name for value in values.values() for name in dimension_names(value)}
    meanings = {
        value.text: f"{name} of forward()" for name, value in values.items() if isinstance(value, Size)
    }

    def size(name: str) -> int:
        meaning = "" if name in dimensions or meanings.get(name) is None else meanings[name]
        return sizes(name, hints[name], meaning, "--input")

    return {name: _made(value, Reader(size), maker) for name, value in values.items()}


def _made(value: Value, reader: Reader, maker: InputMaker) -> object:
    match value:
        case Plain(value=plain):
            return plain
        case Size(text=text):
            return reader.read(text)
        case Items(items=items, is_tuple=is_tuple):
            made = [_made(item, reader, maker) for item in items]
            return tuple(made) if is_tuple else made
        case Shape():
            return _tensor(value, reader, maker)


def _tensor(said: Shape, reader: Reader, maker: InputMaker) -> torch.Tensor:
    import torch

    shape = tuple(cast(int, reader.read(text)) for text in said.dims)
    dtype = cast("torch.dtype", getattr(torch, said.dtype)) if said.dtype else None
    if dtype is None or dtype.is_floating_point or dtype.is_complex:
        return maker.floats(shape, dtype)
    if dtype.itemsize == 1:  # bool and bytes are masks
        return maker.made_up(maker.ones(shape, dtype))
    return maker.made_up(maker.integers(shape, ID_VALUES).to(dtype))

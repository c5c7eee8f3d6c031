"""What a person wrote after `--input` in; out the tensors, their dimensions sizes asked for by name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from forwardbook.analyzers.instances.notation import Reader
from forwardbook.analyzers.instances.recipe import InputMaker, NoRecipe, Sizes

if TYPE_CHECKING:
    import torch

_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
# Hints for dimensions named by the user: primes, so that no two agree by accident.
PRIMES = (5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47)
CONSTANTS: dict[str, object] = {"None": None, "True": True, "False": False}
DTYPES = (
    *("float16", "bfloat16", "float32", "float64", "complex64"),
    *("int8", "int16", "int32", "int64", "uint8", "bool"),
)
ID_VALUES = 7  # integer inputs count 0..6: valid as ids in all but the smallest tables


def hints_for(specs: Mapping[str, str], known: Mapping[str, int]) -> dict[str, int]:
    """A hint for every name in the shapes: the known one, else a prime that no other has."""
    hints = dict(known)
    free = (prime for prime in PRIMES if prime not in known.values())
    for spec in specs.values():
        if spec in CONSTANTS:
            continue
        for name in _NAME.findall(spec.partition(":")[0]):
            if name not in hints:
                hints[name] = next(free, 53 + 2 * len(hints))
    return hints


def make_tensors(
    target: str, specs: Mapping[str, str], hints: Mapping[str, int], sizes: Sizes, maker: InputMaker
) -> dict[str, object]:
    """The keyword arguments for forward(), by parameter name."""

    def size(name: str) -> int:
        return sizes(name, hints[name], "", "--input")

    return {name: _tensor(target, name, spec, Reader(size), maker) for name, spec in specs.items()}


def _tensor(target: str, name: str, spec: str, reader: Reader, maker: InputMaker) -> object:
    if spec in CONSTANTS:
        return CONSTANTS[spec]
    dims, _, dtype_name = spec.partition(":")
    try:
        shape = cast(tuple[int, ...], reader.read(f"({dims},)") if dims.strip() else ())
    except (SyntaxError, ValueError) as error:
        raise NoRecipe(target, f"--input {name}={spec} is not a shape: {error}", inputs=(name,)) from error
    dtype = _dtype(target, name, dtype_name)
    if dtype is None or dtype.is_floating_point or dtype.is_complex:
        return maker.floats(shape, dtype)
    if dtype.itemsize == 1:  # bool and bytes are masks
        return maker.made_up(maker.ones(shape, dtype))
    return maker.made_up(maker.integers(shape, ID_VALUES).to(dtype))


def _dtype(target: str, name: str, dtype_name: str) -> torch.dtype | None:
    import torch

    if not dtype_name:
        return None
    if dtype_name.strip() not in DTYPES:
        reason = f"--input {name}: {dtype_name!r} is no dtype; there are {', '.join(DTYPES)}"
        raise NoRecipe(target, reason, inputs=(name,))
    return cast("torch.dtype", getattr(torch, dtype_name.strip()))

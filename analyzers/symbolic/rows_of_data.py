"""What operations give that have as many rows as data says: their line has a size for that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, cast

import torch
from torch import Tensor

from forwardbook.analyzers.symbolic.ledger import number_of
from forwardbook.analyzers.symbolic.of_data import DIFFERENT, LARGEST, REPEATED, DataSizes
from forwardbook.analyzers.symbolic.of_weights import choices_of
from forwardbook.analyzers.symbolic.origins import inherit
from forwardbook.analyzers.symbolic.schemas import schema_of
from forwardbook.analyzers.symbolic.shadows import carry, element_count, elements, numbers, shadow

Given = dict[str, object]


def rows_of_data(
    func: torch._ops.OpOverload, args: tuple[object, ...], kwargs: Given, data: DataSizes
) -> object | None:
    """The result of an operation whose number of rows hangs on weights; none where it does not.

    Raises:
        OutOfRange: a number of rows was chosen that is larger than what they are chosen of.
    """
    schema = schema_of(func)
    given = {a.name: value for a, value in zip(schema.arguments, args, strict=False)} | kwargs
    make = _MAKERS.get(schema.name)
    return make(given, data) if make is not None else None


def _nonzero(given: Given, data: DataSizes) -> object | None:
    return data.rows(_tensor(given, "self"))


def _masked_select(given: Given, data: DataSizes) -> object | None:
    """As many as are true in the mask; of each that it says for several as many as these are."""
    source, mask = _tensor(given, "self"), _tensor(given, "mask")
    count = data.true(mask)
    if count is None:
        return None
    ahead = max(source.dim() - mask.dim(), 0)
    for dim, size in enumerate(source.shape):
        if dim < ahead or (number_of(mask.shape[dim - source.dim()]) == 1 and number_of(size) != 1):
            count = count * size
    return torch.empty((count,), dtype=source.dtype, device="meta")


def _unique(given: Given, data: DataSizes) -> object | None:
    """The values that differ, for each of all the place of its own among them, and how often each occurs."""
    values, dim = _tensor(given, "self"), given.get("dim")
    side = dim if isinstance(dim, int) else None
    every = element_count(values) if side is None else values.shape[side]
    value = shadow(values)
    known = torch.unique(value, dim=side) if value is not None else None
    natural = known.shape[side or 0] if known is not None else None
    count = data.counted(values, DIFFERENT, natural, every)
    if count is None:
        return None
    shape = [count] if side is None else [*values.shape]
    if side is not None:
        shape[side] = count
    made = torch.empty(shape, dtype=values.dtype, device="meta")
    if known is not None:
        at = torch.arange(number_of(count), device="cpu") % max(known.shape[side or 0], 1)
        carry(made, known.index_select(side or 0, at))
    inverse = torch.empty(values.shape if side is None else (every,), dtype=torch.int64, device="meta")
    if elements(inverse):
        at = torch.arange(elements(inverse), device="cpu") % max(number_of(count), 1)
        carry(inverse, at.reshape(numbers(inverse.shape)))
    counts = torch.empty((count,), dtype=torch.int64, device="meta")
    nothing = torch.empty((0,), dtype=torch.int64, device="meta")
    return (
        made,
        inverse if side is not None or given.get("return_inverse") else nothing,
        counts if side is not None or given.get("return_counts") else nothing,
    )


def _repeat_interleave(given: Given, data: DataSizes) -> object | None:
    """The place of each row that is repeated, as often as it is."""
    repeats, told = _tensor(given, "repeats"), cast("int | None", given.get("output_size"))
    value = shadow(repeats)
    natural = int(value.sum()) if value is not None else None
    count = data.counted(repeats, REPEATED, natural) if told is None else told
    if count is None:
        return None
    at = torch.arange(number_of(count), device="cpu") % max(elements(repeats), 1)
    return carry(torch.empty((count,), dtype=torch.int64, device="meta"), at.sort().values)


def _bincount(given: Given, data: DataSizes) -> object | None:
    """How often each number occurs: of `minlength` where as many were chosen among, else to the largest."""
    found, least = _tensor(given, "self"), cast(int, given.get("minlength", 0))
    value, choices = shadow(found), choices_of(found)
    natural = int(value.max()) + 1 if value is not None and value.numel() else None
    if choices and number_of(choices) == number_of(least):
        count: int | None = least
    else:
        count = data.counted(found, LARGEST, natural)
    if count is None:
        return None
    weights = given.get("weights")
    if isinstance(weights, Tensor):
        return torch.empty((count,), dtype=weights.dtype, device="meta")
    known = torch.bincount(value, minlength=number_of(count)) if value is not None else None
    made = torch.empty((count,), dtype=torch.int64, device="meta")
    inherit([made], [found])
    return carry(made, known[: number_of(count)] if known is not None else None)


_MAKERS: Final[dict[str, Callable[[Given, DataSizes], object | None]]] = {
    "nonzero": _nonzero,
    "masked_select": _masked_select,
    "bincount": _bincount,
    "repeat_interleave": _repeat_interleave,
    **dict.fromkeys(("_unique2", "_unique", "unique_dim"), _unique),
    **dict.fromkeys(("unique_consecutive", "unique_dim_consecutive"), _unique),
}


def _tensor(given: Given, name: str) -> Tensor:
    found = given[name]
    assert isinstance(found, Tensor)
    return found

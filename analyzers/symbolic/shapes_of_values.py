"""Operations whose shapes hang on values that are known: numbers of this run, or what they are taken for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

import torch
from torch import Tensor

from forwardbook.analyzers.symbolic.of_data import DataSizes
from forwardbook.analyzers.symbolic.of_weights import note_routing
from forwardbook.analyzers.symbolic.origins import become_numbers
from forwardbook.analyzers.symbolic.shadows import (
    columns,
    element_count,
    mapped,
    numbers,
    one_of_each_row,
    rows,
    shadow,
    tensors_in,
    to_meta,
)
from forwardbook.saying import MASKED


class UnknownValue(RuntimeError):
    """An operation needs the value of a tensor that has none on the meta device."""


class Shapes:
    """The shapes of one run that hang on values; what had to be taken for granted is `assumed`."""

    def __init__(self, data: DataSizes, assumed: Counter[str]) -> None:
        self.data, self.assumed = data, assumed

    def of_values(
        self, name: str, inputs: list[Tensor], known: bool, real: Callable[[], object]
    ) -> object:
        """What an operation gives that no line has a size for; `real` runs it on the values.

        Raises:
            UnknownValue: nobody knows them.
        """
        note_routing(inputs)
        if name == "nonzero" and self._everywhere(inputs[0], name):
            return rows(inputs[0])
        same_rank = name == "masked_select" and inputs[0].dim() == inputs[1].dim()
        if same_rank and self._everywhere(inputs[1], name):
            whole = torch.broadcast_tensors(inputs[0], inputs[1])[0]
            return torch.empty((element_count(whole),), dtype=whole.dtype, device="meta")
        if known and inputs:
            found = real()
            if "unique" in name and all(t.numel() <= 1 for t in tensors_in(found)):  # however many are given
                self.assumed[f"known values are all the same ({name})"] += 1
            else:
                become_numbers(inputs)
            return mapped(lambda t: to_meta(t) if isinstance(t, Tensor) else t, found)
        mask = shadow(inputs[1]) if name == "masked_select" else None
        if mask is not None:
            become_numbers(inputs[1:])
            shape = torch.broadcast_shapes(numbers(inputs[0].shape), mask.shape)
            return torch.empty(int(mask.broadcast_to(shape).sum()), dtype=inputs[0].dtype, device="meta")
        raise UnknownValue(f"the shape of {name} depends on values that only a run with weights has")

    def integer_indices(self, indices: Iterable[Tensor | None]) -> list[Tensor | None]:
        """Boolean masks among the indices become the integer indices they stand for."""
        found: list[Tensor | None] = []
        for index in indices:
            if index is None or index.dtype not in (torch.bool, torch.uint8):
                found.append(index)
                continue
            if places := self.data.columns(index):
                found += places
                continue
            note_routing([index])
            if self._everywhere(index, "boolean index"):
                found += columns(index)
                continue
            if chosen := one_of_each_row(index):
                self.assumed["a mask of known values is true once in each row (boolean index)"] += 1
                found += chosen
                continue
            mask = shadow(index)
            assert mask is not None
            become_numbers([index])
            found += [to_meta(i) for i in mask.to(torch.bool).nonzero(as_tuple=True)]
        return found

    def _everywhere(self, mask: Tensor, name: str) -> bool:
        """Whether a mask is true everywhere, as one without values is taken to be: sizes stay symbolic."""
        value = shadow(mask)
        if value is None:
            self.assumed[f"{MASKED}is true everywhere ({name})"] += 1
            return True
        if value.numel() == 0 or not bool(value.to(torch.bool).all()):
            return False
        self.assumed[f"a mask of known values is true everywhere ({name})"] += 1
        return True

"""Sizes that only data decides: how many tokens an expert gets, how many experts get any.

Where a mask was computed from weights nobody knows how much of it is true; a number of this run would say
nothing of another. So the line that asks is given a size of its own, named after what it assigns to, and what
it makes has as many rows: a symbol in a symbolic run, the number that was drawn where it is measured. It is
the same each time that the line runs.
"""

from __future__ import annotations

import linecache
import re
import sys
from collections.abc import Callable, Collection, Iterable
from types import FrameType
from typing import Final, Protocol

import torch
from torch import Tensor

from forwardbook.analyzers.symbolic.ledger import number_of
from forwardbook.analyzers.symbolic.node import Node
from forwardbook.analyzers.symbolic.places import segment
from forwardbook.analyzers.symbolic.shadows import apart, carry, element_count, elements, numbers, shadow
from forwardbook.analyzers.symbolic.trace import Place
from forwardbook.errors import ForwardbookError

OF_DATA: Final = "data, "
"""How the source of such a size begins; the file and the line follow."""

_SOME: Final = 11  # of what has no range
_LARGEST: Final = 1 << 62
_ASSIGNED: Final = re.compile(r"^\s*(?:\w+\s*,\s*)*(\w+)\s*=(?!=)")
_ABOVE: Final = 4  # lines that an assignment may begin before the call in it


class Asked(Protocol):
    """Answers what a size is, as the sizes of a recipe are answered."""

    def __call__(self, name: str, hint: int, meaning: str = "", source: str = "") -> int:
        """A symbol or a number."""
        ...


class OutOfRange(ForwardbookError):
    """More rows were asked for than a mask has elements."""


def _choices(tensor: Tensor) -> int | None:
    """Among how many weights chose what a tensor holds, 0 where nobody chose; None without weights."""
    found: int | None = getattr(tensor, "_forwardbook_of_weights", None)
    return found


def follow_weights(made: Iterable[Tensor], given: Iterable[Tensor]) -> None:
    """Truths that are computed of weights are of them, and whatever whole numbers or truths come of such."""
    choices = next((found for one in given if (found := _choices(one)) is not None), None)
    if choices is not None:
        mark((one for one in made if not one.is_floating_point()), choices)
    elif any(one.dtype == torch.bool for one in made) and any(map(_is_of_weights, given)):
        mark(one for one in made if one.dtype == torch.bool)


def _is_of_weights(tensor: Tensor) -> bool:
    """Whether a tensor holds numbers that nobody knows; those that are too many to carry are none."""
    return tensor.is_floating_point() and shadow(tensor) is None and tensor.device.type == "meta"


def mark(tensors: Iterable[Tensor], choices: int = 0) -> None:
    """Writes down that what these carry stands for values of weights, which chose among so many."""
    for tensor in tensors:
        tensor._forwardbook_of_weights = choices  # type: ignore[attr-defined]


def _most(mask: Tensor) -> int:
    """How much of a mask can be true: all, but for a place beside those that weights choose among.

    Experts are counted with one more, for tokens that go to none.
    """
    every, choices = element_count(mask), _choices(mask)
    beside = mask.dim() == 1 and choices is not None and number_of(choices) + 1 == number_of(every)
    return choices if choices is not None and beside else every


class DataSizes:
    """The sizes of one run that its lines asked for; none where nobody answers (`ask` is None).

    Where it is `told` sizes, others are not asked for.
    """

    def __init__(self, ask: Asked | None, told: Collection[str] | None = None) -> None:
        self.ask, self.told = ask, told
        self.places: Callable[[FrameType | None], tuple[Place, ...]] = segment
        self.within: list[Node] = []
        """That a size is at most as large as the mask it counts in, each time that it was asked for."""
        self.chosen: dict[str, int] = {}
        """The number of each in this run; of those that it was not told, as many as were true at first."""
        self._at: dict[tuple[str, int], tuple[str, int]] = {}

    def rows(self, mask: Tensor) -> Tensor | None:
        """What `nonzero` gives of a mask computed from weights, with as many rows as its line has a size for.

        None of any other mask. The first are those that are true in this run.

        Raises:
            OutOfRange: a number was chosen that is larger than the mask.
        """
        found = self._chosen(mask)
        if found is None:
            return None
        places, count = found
        made = carry(torch.empty((count, mask.dim()), dtype=torch.int64, device="meta"), places)
        mark([made])
        return made

    def columns(self, mask: Tensor) -> list[Tensor]:
        """The same, one tensor for each dimension; none where it gives none."""
        found = self._chosen(mask)
        made = apart(*found) if found is not None else []
        mark(made)
        return made

    def number(self, natural: int) -> int | None:
        """A whole number that weights gave and Python asks for; none where its line has no size."""
        place = self.places(sys._getframe(1))[-1:] if self.ask is not None else ()
        return self._asked(place[0], natural, _LARGEST) if place else None

    def _chosen(self, mask: Tensor) -> tuple[Tensor, int] | None:
        """The places of what is true and then of the others, as many as its line has a size for; that."""
        asked = self.ask is not None and _choices(mask) is not None
        place = self.places(sys._getframe(1))[-1:] if asked else ()
        if not place:
            return None
        value, most = shadow(mask), elements(mask)
        true = value.to(torch.bool).flatten() if value is not None else None  # else too many to carry
        count: int | None = getattr(mask, "_forwardbook_count", None)  # of a line that chose by the same mask
        if count is None:
            count = self._asked(place[0], int(true.sum()) if true is not None else most, most)
            if count is None:
                return None
            self._keep(count, _most(mask))
            mask._forwardbook_count = count  # type: ignore[attr-defined]
        at = torch.arange(number_of(count), device="cpu") % max(most, 1)
        if true is not None:  # else any places will do
            at = true.to(torch.uint8).argsort(descending=True, stable=True)[at]
        return torch.stack(torch.unravel_index(at, numbers(mask.shape)), 1), count

    def _asked(self, place: Place, natural: int, most: int) -> int | None:
        """The size of a line, if it was chosen; else what is true stays what it is."""
        assert self.ask is not None
        known = self._at.get((place.file, place.line))
        if known is None:
            name = self._name(place)
            # runs with a few more of them are possible, too
            hint = _SOME if most == _LARGEST else min(max(natural // 2, 2), most)
            known = self._at[place.file, place.line] = name, hint
        name, hint = known
        if self.told is not None and name not in self.told:
            self.chosen.setdefault(name, natural)
            return None
        said = linecache.getline(place.file, place.line).strip()
        what = "a number" if most == _LARGEST else "how many are true"
        meaning = f"{what}, which data decides: `{said}`"
        count = self.ask(name, hint, meaning, f"{OF_DATA}{place.function} line {place.line}")
        self.chosen[name] = number_of(count)
        return count

    def _name(self, place: Place) -> str:
        """After what the line assigns to, `token_idx_count`; numbered where another line has the name."""
        lines = (linecache.getline(place.file, line) for line in range(place.line, place.line - _ABOVE, -1))
        target = next((found[1] for line in lines if (found := _ASSIGNED.match(line))), "selected")
        taken = {name for name, _ in self._at.values()}
        names = (f"{target}_count{number}" for number in ("", *map(str, range(2, len(taken) + 3))))
        return next(name for name in names if name not in taken)

    def _keep(self, count: int, most: int) -> None:
        """Notes that a size is within what it counts in; a count of a loop is interpolated over beyond."""
        if not isinstance(count, torch.SymInt) and isinstance(most, torch.SymInt):
            return
        asked, there = number_of(count), number_of(most)
        if asked > there:
            raise OutOfRange(f"{asked} rows were asked for of a mask of {there} elements")
        within = count <= most
        if isinstance(within, torch.SymBool):
            self.within.append(within.node)
            bool(within)  # a condition of this call

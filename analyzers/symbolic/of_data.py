"""Sizes that only data decides: how many tokens an expert gets, how many experts get any.

Where a mask was computed from weights nobody knows how much of it is true; a number of this run would say
nothing of another. So the line that asks is given a size of its own, named after what it assigns to, and what
it makes has as many rows: a symbol in a symbolic run, the number that was drawn where it is measured. It is
the same each time that the line runs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection
from types import FrameType
from typing import Final, Protocol

import torch
from torch import Tensor

from forwardbook.analyzers.symbolic.ledger import number_of
from forwardbook.analyzers.symbolic.node import Node
from forwardbook.analyzers.symbolic.of_weights import choices_of, is_of_weights, mark
from forwardbook.analyzers.symbolic.places import segment
from forwardbook.analyzers.symbolic.shadows import apart, carry, element_count, elements, numbers, shadow
from forwardbook.analyzers.symbolic.statements import code_at, goes_on, names_at
from forwardbook.analyzers.symbolic.trace import Place
from forwardbook.errors import ForwardbookError

OF_DATA: Final = "data, "
"""How the source of such a size begins; the file and the line follow."""

TRUE: Final = "how many are true"
DIFFERENT: Final = "how many differ"
REPEATED: Final = "how many rows in all"
LARGEST: Final = "one more than the largest"
ROUNDS: Final = "how many rounds"
"""What a size counts, as its meaning says."""
_OF_FIRST: Final = frozenset((DIFFERENT,))
"""Those whose results come first of several: `found, inverse = unique(...)`, but `_, place = where(...)`."""
_NAMELESS: Final = {ROUNDS: "round"}

_SOME: Final = 11  # of what has no range
_FEW: Final = 2  # rounds: a loop may end by itself after a few
_LARGEST: Final = 1 << 62


class Asked(Protocol):
    """Answers what a size is, as the sizes of a recipe are answered."""

    def __call__(self, name: str, hint: int, meaning: str = "", source: str = "") -> int:
        """A symbol or a number."""
        ...


class OutOfRange(ForwardbookError):
    """More rows were asked for than a mask has elements."""


def _most(mask: Tensor) -> int:
    """How much of a mask can be true: all, but for a place beside those that weights choose among.

    Experts are counted with one more, for tokens that go to none.
    """
    every, choices = element_count(mask), choices_of(mask)
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
        self._at: dict[tuple[str, int, str], tuple[str, int]] = {}
        self._gone: dict[Place, int] = {}
        """How many rounds each loop has gone that is not left yet."""

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
        mark([made], choices_of(mask) or 0)
        return made

    def columns(self, mask: Tensor) -> list[Tensor]:
        """The same, one tensor for each dimension; none where it gives none."""
        found = self._chosen(mask)
        made = apart(*found) if found is not None else []
        mark(made, choices_of(mask) or 0)
        return made

    def number(self, natural: int) -> int | None:
        """A whole number that weights gave and Python asks for; none where its line has no size."""
        place = self.places(sys._getframe(1))[-1:] if self.ask is not None else ()
        return self._asked(place[0], "a number", natural) if place else None

    def asking(self) -> str:
        """The code that asks for what only data has, as it is written."""
        place = self.places(sys._getframe(1))[-1:]
        return f"`{code_at(place[0])}`" if place else "a line that is not known"

    def answer(self) -> bool | None:
        """What a `while` that asks data is told, so that it goes as many rounds as its line has a size for.

        None where no loop hangs on it.
        """
        place = self.loop()
        if place is None or self.ask is None:
            return None
        count = self._asked(place, ROUNDS, natural=1)
        gone = self._gone.pop(place, 0)
        if gone == (1 if count is None else int(count)):
            return not goes_on(place)
        self._gone[place] = gone + 1
        return goes_on(place)

    def loop(self) -> Place | None:
        """Where a `while` is tested that hangs on what is asked; None where none does."""
        places = self.places(sys._getframe(1))
        return next((place for place in reversed(places) if goes_on(place) is not None), None)

    def finish(self) -> None:
        """To be called after the run.

        Raises:
            OutOfRange: a loop ended before it had gone as many rounds as were asked for.
        """
        for place in self._gone:
            raise OutOfRange(f"`{code_at(place)}` ended by itself: it goes fewer rounds than were asked for")

    def true(self, mask: Tensor) -> int | None:
        """How much of a mask computed from weights is true; none of any other, or without a size of its line.

        Lines that choose by one mask have one size.

        Raises:
            OutOfRange: a number was chosen that is larger than the mask.
        """
        count: int | None = getattr(mask, "_forwardbook_count", None)
        if count is None and choices_of(mask) is not None:
            value = shadow(mask)
            natural = int(value.to(torch.bool).sum()) if value is not None else elements(mask)
            count = self.counted(mask, TRUE, natural, _most(mask))
            mask._forwardbook_count = count  # type: ignore[attr-defined]
        return count

    def counted(self, given: Tensor, what: str, natural: int | None, most: int | None = None) -> int | None:
        """How many rows come of what weights gave, at most so many; none of anything else, or without a size.

        `natural` is their number in this run where it is known; where it is not, there are some.

        Raises:
            OutOfRange: a number was chosen that is larger.
        """
        if self.ask is None or not (choices_of(given) is not None or is_of_weights(given)):
            return None
        place = self.places(sys._getframe(1))[-1:]
        there = _LARGEST if most is None else number_of(most)
        some = min(_SOME, there) if natural is None else natural
        count = self._asked(place[0], what, some, there) if place else None
        if count is None and place and natural is None:
            count = some  # a run that is told nothing needs some number
        if count is not None and most is not None:
            self._keep(count, most)
        return count

    def _chosen(self, mask: Tensor) -> tuple[Tensor, int] | None:
        """The places of what is true and then of the others, as many as its line has a size for; that."""
        count = self.true(mask)
        if count is None:
            return None
        value = shadow(mask)
        at = torch.arange(number_of(count), device="cpu") % max(elements(mask), 1)
        if value is not None:  # else too many to carry, and any places will do
            true = value.to(torch.bool).flatten().to(torch.uint8)
            at = true.argsort(descending=True, stable=True)[at]
        return torch.stack(torch.unravel_index(at, numbers(mask.shape)), 1), count

    def _asked(self, place: Place, what: str, natural: int, most: int = _LARGEST) -> int | None:
        """The size of a line, if it was chosen; else what is true stays what it is."""
        assert self.ask is not None
        known = self._at.get((place.file, place.line, what))
        if known is None:
            name = self._name(place, what)
            # runs with a few more of them are possible, too
            some = _FEW if what == ROUNDS else natural if natural > 1 else _SOME
            hint = some if most == _LARGEST else min(max(natural // 2, 2), most)
            known = self._at[place.file, place.line, what] = name, hint
        name, hint = known
        if self.told is not None and name not in self.told:
            self.chosen.setdefault(name, natural)
            return None
        meaning = f"{what}, which data decides: `{code_at(place)}`"
        count = self.ask(name, hint, meaning, f"{OF_DATA}{place.function} line {place.line}")
        self.chosen[name] = number_of(count)
        return count

    def _name(self, place: Place, what: str) -> str:
        """After what the line assigns to, `token_idx_count`; numbered where another line has the name."""
        assigned = names_at(place)
        target = assigned[0 if what in _OF_FIRST else -1] if assigned else _NAMELESS.get(what, "selected")
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

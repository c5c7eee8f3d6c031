"""What was found of a class in; out where in its models each regime is called, as `encoder.layers.*.mlp`.

The number of a layer is left open, for all layers of a sort are alike, unless the regime is about one: its
formulas name a size by its number (`hidden_sizes.2` of the third stage), and other numbers of the same place
have other formulas.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from forwardbook.pipeline.derivation.explore import Found
from forwardbook.schema import ALONE, CALLED_AS

ANY: Final = "*"
_NUMBERED: Final = re.compile(r"\.\d+(\.|$)")

Numbers = tuple[str, ...]
Places = dict[str, set[Numbers]]


def contexts(found: Sequence[Found]) -> list[str]:
    """For each, where it is called."""
    numbers = [_numbers(one.derived.pattern.paths) for one in found]
    every = list(zip(found, numbers, strict=True))
    return [_context(_told(one, mine, [n for o, n in every if _beside(one, o)])) for one, mine in every]


def context(found: Found) -> str:
    """Where it is called, all numbers left open."""
    return _context(_numbers(found.derived.pattern.paths))


def _context(places: Iterable[str]) -> str:
    where = ", ".join(dict.fromkeys(one for one in places if one))
    return f"{CALLED_AS}{where}" if where else ALONE


def _beside(one: Found, other: Found) -> bool:
    """Whether both came of the same way of calling."""
    return one is not other and one.label.partition(", ")[0] == other.label.partition(", ")[0]


def _told(one: Found, mine: Places, others: Sequence[Places]) -> Iterator[str]:
    by_number = any(_NUMBERED.search(name) for name in one.derived.pattern.summary.symbols())
    for place, numbers in mine.items():
        apart = [there for other in others if (there := other.get(place)) and not there & numbers]
        if not (by_number and apart):
            yield place
            continue
        elsewhere = [set(column) for column in zip(*(n for there in apart for n in there), strict=True)]
        here = [set(column) for column in zip(*numbers, strict=True)]
        kept = (
            next(iter(own)) if len(own) == 1 and not own >= theirs else ANY
            for own, theirs in zip(here, elsewhere, strict=True)
        )
        yield ".".join(next(kept) if part == ANY else part for part in place.split("."))


def _numbers(paths: Iterable[str]) -> Places:
    """Places with their numbers left open, and those numbers of each path."""
    found: Places = {}
    for path in paths:
        parts = path.split(".")
        place = ".".join(ANY if part.isdigit() and i else part for i, part in enumerate(parts))
        numbers = tuple(part for i, part in enumerate(parts) if part.isdigit() and i)
        found.setdefault(place, set()).add(numbers)
    return found


"""What was found of a class in; out where in its models each regime is called, as `encoder.layers.*.mlp`.

The number of a layer is left open, for all layers of a sort are alike, unless the regime is about one: its
formulas name sizes by numbers (`hidden_sizes.2` of the third stage), and regimes of other numbers of the same
place never name the same ones. Within such a stage the layers are alike, as far as their numbers tell. Where
a deeper model shows layers that no regime gives, those that one was seen to give are told.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from forwardbook.analyzers.symbolic.trace import NUMBER, general
from forwardbook.pipeline.derivation.found import Found
from forwardbook.saying import ALONE, CALLED_AS
from forwardbook.schema import Regime

ANY: Final = "*"
ENOUGH: Final = 3  # of the last layers, for what is said of all that follow


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a regime is called, numbers left open, and of each of these those of its calls."""

    place: str
    numbers: tuple[frozenset[str], ...]
    sizes: frozenset[str]
    """What its formulas name by number."""


def contexts(found: Sequence[Found]) -> list[str]:
    """For each, where it is called."""
    every = [(one, list(_places(one))) for one in found]
    told: list[str] = []
    for one, mine in every:
        beside = [place for other, there in every if _same_way(one, other) for place in there]
        told.append(_context(_told(place, beside) for place in mine))
    return told


def context(found: Found) -> str:
    """Where it is called, all numbers left open."""
    return _context(one.place for one in _places(found))


def at_places(regime: Regime, places: Iterable[str]) -> Regime:
    """A regime of the record with other places."""
    return regime.model_copy(update={"context": _context(places)})


def narrower(
    place: str, right: Collection[str], wrong: Collection[str], every: Iterable[str]
) -> tuple[str, ...]:
    """A place with the numbers told that keep paths of it at which a regime holds from those where none does.

    `every` are all paths of the place: what holds up to the last of them holds of all that follow. A place
    that leaves no number open stays as it is.
    """
    if not wrong or ANY not in place.split("."):
        return (place,)
    opened = _opened(place)
    last: dict[tuple[int, ...], int] = {}
    every = list(every)
    for *outer, number in map(opened, every):
        last[tuple(outer)] = max(number, last.get(tuple(outer), 0))
    columns = (tuple(zip(*map(opened, paths), strict=True)) for paths in (right, wrong, every))
    for column, (numbers, beside, seen) in enumerate(zip(*columns, strict=True)):
        if set(numbers).isdisjoint(beside):
            told = [ANY] * place.count(ANY)
            told[column] = ranges(set(numbers), max(seen))
            return (_filled(place, told),)
    innermost: dict[tuple[int, ...], set[int]] = {}
    for *outer, number in map(opened, sorted(set(right).difference(wrong))):
        innermost.setdefault(tuple(outer), set()).add(number)
    return tuple(
        _filled(place, [*map(str, outer), ranges(one, last.get(outer))]) for outer, one in innermost.items()
    )


def ranges(numbers: Collection[int], last: int | None = None) -> str:
    """Numbers as `0-2,5`; those that end with the ENOUGH before `last` go on, as `5-`.

    More than followed on each other before have to: what broke off after seven may do so again.
    """
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    told = [str(a) if a == b else f"{a}-{b}" for a, b in parts]
    *before, final = [b - a + 1 for a, b in parts] or [0]
    if parts and parts[-1][1] == last and final >= ENOUGH and final > max(before, default=0):
        told[-1] = f"{parts[-1][0]}-"
    return ",".join(told)


def _opened(place: str) -> Callable[[str], tuple[int, ...]]:
    """Of a path of the place the numbers that it leaves open."""
    columns = [column for column, part in enumerate(place.split(".")) if part == ANY]

    def numbers(path: str) -> tuple[int, ...]:
        parts = path.split(".")
        return tuple(int(parts[column]) for column in columns)

    return numbers


def _context(places: Iterable[str]) -> str:
    where = ", ".join(dict.fromkeys(one for one in places if one))
    return f"{CALLED_AS}{where}" if where else ALONE


def _same_way(one: Found, other: Found) -> bool:
    """Whether both came of the same way of calling."""
    return one.label.partition(", ")[0] == other.label.partition(", ")[0]


def _told(mine: _Place, every: Sequence[_Place]) -> str:
    beside = [one for one in every if one.place == mine.place]
    found = [_kept(mine, column, beside) for column in range(len(mine.numbers))]
    first = next((column for column, number in enumerate(found) if number != ANY), len(found))
    return _filled(mine.place, [*found[: first + 1], *(ANY for _ in found[first + 1 :])])


def _filled(place: str, numbers: Iterable[str]) -> str:
    told = iter(numbers)
    return ".".join(next(told) if part == ANY else part for part in place.split("."))


def _kept(mine: _Place, column: int, beside: Sequence[_Place]) -> str:
    """The number in a column where it says which sizes are named."""
    number = mine.numbers[column]
    others = [one for one in beside if number.isdisjoint(one.numbers[column])]
    if len(number) != 1 or not mine.sizes or not others:
        return ANY
    by_sizes: dict[frozenset[str], set[frozenset[str]]] = {}
    for one in beside:
        if len(one.numbers[column]) == 1 or one.sizes == mine.sizes:
            by_sizes.setdefault(one.sizes, set()).add(one.numbers[column])
    return ANY if any(len(numbers) > 1 for numbers in by_sizes.values()) else next(iter(number))


def _places(found: Found) -> Iterator[_Place]:
    pattern = found.derived.pattern
    sizes = frozenset(name for name in pattern.summary.symbols() if NUMBER.search(name))
    numbers: dict[str, list[list[str]]] = {}
    for path in pattern.paths:
        numbers.setdefault(general(path), []).append(NUMBER.findall(path))
    for place, rows in numbers.items():
        yield _Place(place, tuple(map(frozenset, zip(*rows, strict=True))), sizes)

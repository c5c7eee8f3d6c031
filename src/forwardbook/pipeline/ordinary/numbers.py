"""Arguments of a constructor or of forward() in; the whole numbers in them by the names of formulas out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from forwardbook.analyzers.derive.handed import parts_of
from forwardbook.analyzers.derive.layout import TensorLayout
from forwardbook.analyzers.derive.names import word

DEPTH: Final = 8
"""How deep objects are looked into, as deep as names come from."""


@dataclass(frozen=True)
class Numbers:
    """Numbers by the last word of their path, the different ones of a word in their order."""

    by_word: Mapping[str, tuple[int, ...]]

    def of(self, name: str) -> tuple[int, ...]:
        """The numbers that a name may be, the likeliest first; `width_2` is the second `width`."""
        if name in self.by_word:
            return self.by_word[name]
        base, _, number = name.rpartition("_")
        found = self.by_word.get(base, ())
        if not found or not number.isdigit():
            return ()
        place = min(max(int(number) - 1, 0), len(found) - 1)
        return (found[place], *found[:place], *found[place + 1 :])


def numbers_of(arguments: Mapping[str, object]) -> Numbers:
    """The whole numbers in arguments and in what they hold: configs, lists, dictionaries."""
    found: dict[str, dict[int, None]] = {}
    for path, number in _numbers(arguments, "", DEPTH, set()):
        found.setdefault(word(path), {})[number] = None
    return Numbers({name: tuple(one) for name, one in found.items()})


def _numbers(value: object, path: str, depth: int, seen: set[int]) -> Iterator[tuple[str, int]]:
    if type(value) is int:
        yield path, value
        return
    if not depth or id(value) in seen or isinstance(value, TensorLayout):
        return
    seen.add(id(value))
    for name, one in parts_of(value):
        yield from _numbers(one, f"{path}.{name}" if path else name, depth - 1, seen)

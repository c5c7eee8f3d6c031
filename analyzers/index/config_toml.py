"""The text of a TOML file in, its dotted keys with types, values and lines out."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from typing import Final

from forwardbook.analyzers.index.config import Keys, Unreadable, walked
from forwardbook.analyzers.index.facts import Attribute

_PART: Final = r"(?:[\w-]+|\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*')"
_DOTTED: Final = rf"{_PART}(?:\s*\.\s*{_PART})*"
_TABLE: Final = re.compile(rf"^\s*\[\[?\s*({_DOTTED})\s*\]")
_KEY: Final = re.compile(rf"^\s*({_DOTTED})\s*=")
_NAME: Final = re.compile(_PART)


def toml_keys(text: str) -> Iterator[Attribute]:
    """The keys of a TOML file, in its order."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"line (\d+)", str(error))
        raise Unreadable(int(found[1]) if found else 0, f"no valid TOML: {error}") from None
    lines = _lines(text)

    def line_of(key: tuple[str, ...]) -> int:
        while key and key not in lines:
            key = key[:-1]  # a key within an inline table stands on the line of the table
        return lines.get(key, 1)

    keys = Keys()
    yield from walked(table, keys, line_of)


def _lines(text: str) -> dict[tuple[str, ...], int]:
    """The line on which each key first stands."""
    lines: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.split("\n"), 1):
        if match := _TABLE.match(line):
            table = _names(match[1])
            key = table
        elif match := _KEY.match(line):
            key = (*table, *_names(match[1]))
        else:
            continue
        for length in range(1, len(key) + 1):
            lines.setdefault(key[:length], number)
    return lines


def _names(dotted: str) -> tuple[str, ...]:
    return tuple(part.strip("\"'") for part in _NAME.findall(dotted))

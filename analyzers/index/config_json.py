"""The text of a JSON file in (comments allowed), its dotted keys with types, values and lines out."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import Final

from forwardbook.analyzers.index.config import Keys, Unreadable
from forwardbook.analyzers.index.facts import Attribute

_TOKEN: Final = re.compile(
    r"\s+|//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/|(?P<string>\"[^\"\\\n]*(?:\\.[^\"\\\n]*)*\")|(?P<mark>[\[\]{},:])"
    r"|(?P<number>-?\d[\d.eE+-]*)|(?P<word>true|false|null|NaN|-?Infinity)"
)
_WORDS: Final = {"true": "boolean", "false": "boolean", "null": "null"}


def json_keys(text: str) -> Iterator[Attribute]:
    """The keys of a JSON file, in its order; up to the first error where it has one."""
    ends = [match.start() for match in re.finditer("\n", text)]
    keys = Keys()
    try:
        _read(text, keys, ends)
    except Unreadable as error:
        yield from keys.found
        raise error
    yield from keys.found


def _read(text: str, keys: Keys, ends: list[int]) -> None:
    position, expects_key, depth = 0, [False], 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            found = text[position : position + 20]
            raise Unreadable(bisect_left(ends, position) + 1, f"no valid JSON: {found!r}")
        position = match.end()
        kind, token = match.lastgroup, match[0]
        if kind == "string" and expects_key[-1]:
            keys.key(_string(token), bisect_left(ends, match.start()) + 1)
            expects_key[-1] = False
        elif kind == "string":
            keys.scalar("string", token)
        elif kind == "number":
            keys.scalar("integer" if token.lstrip("-").isdigit() else "float", token)
        elif kind == "word":
            keys.scalar(_WORDS.get(token, "float"), token)
        elif token in ("{", "["):
            depth += 1
            keys.opened("mapping" if token == "{" else "list")
            expects_key.append(token == "{")
        elif token in ("}", "]"):
            depth -= 1
            if depth < 0:
                line = bisect_left(ends, match.start()) + 1
                raise Unreadable(line, f"no valid JSON: {token!r} without its opening")
            keys.closed()
            expects_key.pop()
        elif token == ",":
            expects_key[-1] = not keys.in_list
    if depth:
        raise Unreadable(len(ends) + 1, f"no valid JSON: {depth} brackets are not closed")


def _string(token: str) -> str:
    try:
        return str(json.loads(token))
    except ValueError:
        return token[1:-1]

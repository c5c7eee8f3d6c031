"""Facts in, JSON text out, and back: compact rows for the cache, named fields for people."""

from __future__ import annotations

import dataclasses
import gc
import json
import types
from collections.abc import Callable
from functools import cache
from operator import attrgetter
from typing import Any, Final, get_args, get_origin, get_type_hints

from forwardbook.analyzers.index import facts as nouns
from forwardbook.analyzers.index.facts import FileFacts

NOUNS: Final = tuple(
    noun for noun in vars(nouns).values() if isinstance(noun, type) and dataclasses.is_dataclass(noun)
)
_FIELDS: Final[dict[type, tuple[str, ...]]] = {
    noun: tuple(field.name for field in dataclasses.fields(noun)) for noun in NOUNS
}
_VALUES: Final[dict[type, attrgetter[Any]]] = {noun: attrgetter(*names) for noun, names in _FIELDS.items()}
_Convert = Callable[[Any], Any]


def encoded(facts: FileFacts) -> str:
    """The facts of a file as one line of JSON: every value a row of its fields in their order."""
    return json.dumps(facts, default=_row, separators=(",", ":"))


def decoded(text: str) -> FileFacts:
    """The facts that `encoded` wrote."""
    collecting = gc.isenabled()
    gc.disable()  # it finds nothing among facts that are being built, and takes most of the time
    try:
        made: FileFacts = _reader(FileFacts)(json.loads(text))
    finally:
        if collecting:
            gc.enable()
    return made


def named(facts: FileFacts) -> dict[str, object]:
    """The facts of a file as a dictionary with the names of the fields, for JSON that people read."""
    return dataclasses.asdict(facts)


@cache
def fingerprint() -> str:
    """What rows of this shape begin with: it changes whenever a field of the facts does."""
    return json.dumps([[noun.__name__, *map(str, _hints(noun).items())] for noun in NOUNS])


def _row(value: object) -> tuple[object, ...]:
    try:
        row: tuple[object, ...] = _VALUES[type(value)](value)
    except KeyError:
        raise TypeError(f"{type(value).__name__} is no kind of fact") from None
    return row


@cache
def _hints(noun: type) -> dict[str, object]:
    return get_type_hints(noun)


@cache
def _reader(noun: type) -> _Convert:
    """A function that builds a noun from the row of its fields."""
    hints = _hints(noun)
    convert = [_converter(hints[name]) for name in _FIELDS[noun]]
    busy = [(number, change) for number, change in enumerate(convert) if change is not None]

    def read(row: list[Any]) -> Any:
        for number, change in busy:
            value = row[number]
            if value is not None:
                row[number] = change(value)
        return noun(*row)

    return read


def _converter(hint: object) -> _Convert | None:
    """What turns a JSON value into a field of this type, or None where it is that already."""
    if isinstance(hint, type) and hint in _FIELDS:
        return _reader(hint)
    if isinstance(hint, types.UnionType):
        return next((found for part in get_args(hint) if (found := _converter(part))), None)
    if get_origin(hint) is not tuple:
        return None
    inner = _converter(get_args(hint)[0])
    if inner is None:
        return tuple
    element = inner
    return lambda values: tuple([element(value) for value in values])

"""Two entries of one class in; out the defaults that are others, and the sizes that each side then has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from forwardbook.schema import Entry

Method = Literal["__init__", "forward"]


@dataclass(frozen=True, slots=True)
class DefaultChange:
    """A parameter whose default is another; `line` is where it is written now, 0 where that is not known."""

    name: str
    method: Method
    before: JsonValue
    after: JsonValue
    file: str = ""
    line: int = 0
    code: str = ""

    @property
    def text(self) -> str:
        """`default of hidden in __init__: 1024 -> 8192`."""
        return f"default of {self.name} in {self.method}: {self.before!r} -> {self.after!r}"


def changed_defaults(before: Entry, after: Entry) -> tuple[DefaultChange, ...]:
    """The parameters that have a default on both sides, and not the same."""
    return (
        *_changed("__init__", before.defaults, after.defaults),
        *_changed("forward", before.call_defaults, after.call_defaults),
    )


def wanted_with(
    wanted: Mapping[str, int], changed: tuple[DefaultChange, ...], is_after: bool
) -> dict[str, int]:
    """The wanted sizes of a side: what has another default is compared as whoever gives nothing has it."""
    found = {name: size for name, size in wanted.items() if all(one.name != name for one in changed)}
    for one in changed:
        value = one.after if is_after else one.before
        if type(value) is int and value >= 0:
            found[one.name] = value
    return found


def _changed(
    method: Method, before: Mapping[str, JsonValue], after: Mapping[str, JsonValue]
) -> Iterator[DefaultChange]:
    for name, value in before.items():
        if name in after and (type(value), value) != (type(after[name]), after[name]):
            yield DefaultChange(name, method, value, after[name])

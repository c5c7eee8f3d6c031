"""What is typed as NAME=VALUE and as a whole number in; names and numbers out, each given once."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, TypeVar

import typer

_WHOLE: Final = re.compile(r"[-+]?[0-9]{1,19}", re.ASCII)
_Value = TypeVar("_Value")


def once(option: str, pairs: Iterable[tuple[str, _Value]]) -> dict[str, _Value]:
    """Names and values as a dictionary; a name that is given twice is wrong usage."""
    found: dict[str, _Value] = {}
    for name, value in pairs:
        if name in found:
            raise typer.BadParameter(f"{name} is given twice; give it once", param_hint=f"'{option}'")
        found[name] = value
    return found


def pairs(option: str, texts: list[str] | None, example: str) -> list[tuple[str, str]]:
    """`name=value` texts as pairs; wrong usage says what was expected."""
    found: list[tuple[str, str]] = []
    for text in texts or []:
        name, equals, value = text.partition("=")
        if not (name.strip() and equals and value.strip()):
            message = f"{text[:80]!r} is not NAME=VALUE, such as {example}"
            raise typer.BadParameter(message, param_hint=f"'{option}'")
        found.append((name.strip(), value.strip()))
    return [*once(option, found).items()]


def whole_number(text: str) -> int | None:
    """The number that the digits 0 to 9 say, below 2**63; None for any other text."""
    stripped = text.strip()
    value = int(stripped) if _WHOLE.fullmatch(stripped) else None
    return None if value is None or abs(value) >= 2**63 else value


def size_number(text: str) -> int:
    """The same for an option: of any other text it says what was expected."""
    value = whole_number(text)
    if value is None:
        raise typer.BadParameter(f"{text[:80]!r} is no whole number below 2**63")
    return value

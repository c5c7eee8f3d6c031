"""Texts such as `model=gpt2`, `+a.b=1`, `~c` in; what they change, with YAML values, out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from forwardbook.errors import ForwardbookError

if TYPE_CHECKING:
    from pydantic import JsonValue

Action = Literal["change", "add", "force", "delete"]
ACTIONS: dict[str, Action] = {"": "change", "+": "add", "++": "force", "~": "delete"}
WRITTEN = re.compile(r"(?P<sign>\+\+|\+|~)?(?P<key>[\w./-]+)(@(?P<package>[\w.]*))?(?P<rest>=.*)?", re.DOTALL)


class ConfigurationError(ForwardbookError):
    """A configuration cannot be composed, or does not fit its schema; the message lists every problem."""


@dataclass(frozen=True)
class Override:
    """One change: a key and a value, or a group and an option; `value` is None for a bare deletion too."""

    text: str
    action: Action
    key: str
    package: str | None
    value: JsonValue
    has_value: bool

    @property
    def override_key(self) -> str:
        """A group as defaults lists call it: `db`, or `db@place` where it is mounted elsewhere."""
        if self.package is None or self.package == self.key.replace("/", "."):
            return self.key
        return f"{self.key}@{self.package or '_global_'}"


def is_override(text: str) -> bool:
    """Whether a word of the command line is an override, not a name: `key=value`, `~key`."""
    found = WRITTEN.fullmatch(text)
    return found is not None and (found["rest"] is not None or found["sign"] == "~")


def given(option: str, key: str, value: JsonValue) -> Override:
    """What an option of the command line sets, whatever was there."""
    return Override(option, "force", key, None, value, has_value=True)


def parsed(texts: Sequence[str | Override]) -> list[Override]:
    """Every override; options of the command line are such already.

    Raises:
        ConfigurationError: for texts that are none, all of them listed.
    """
    found, problems = [], []
    for text in texts:
        try:
            found.append(text if isinstance(text, Override) else _parsed(text))
        except ConfigurationError as error:
            problems.append(str(error))
    if problems:
        raise ConfigurationError("reading overrides: " + "; ".join(problems))
    return found


def _parsed(text: str) -> Override:
    match = WRITTEN.fullmatch(text)
    if match is None:
        raise ConfigurationError(
            f"{text!r} is no override; write key=value, group=option, +key=value or ~key"
        )
    action, rest = ACTIONS[match["sign"] or ""], match["rest"]
    if rest is None and action != "delete":
        raise ConfigurationError(f"{text!r} has no value; write {text}=VALUE")
    value = None if rest is None else value_of(rest[1:], text)
    return Override(text, action, match["key"], match["package"], value, rest is not None)


def value_of(written: str, text: str) -> JsonValue:
    """The value that YAML reads; nothing is the empty text, as in Hydra.

    Raises:
        ConfigurationError: for what is no YAML, and for several values, which would be a sweep.
    """
    import yaml  # type: ignore[import-untyped]

    from forwardbook.configuration.yaml_text import read_yaml

    if not written.strip():
        return ""
    try:
        found: JsonValue = read_yaml(written)
    except yaml.YAMLError as error:
        told = str(error).splitlines()[0]
        raise ConfigurationError(f"{text!r}: the value is no YAML ({told}); put it in quotes") from None
    if isinstance(found, str) and "," in found and written.strip()[0] not in "'\"":
        raise ConfigurationError(f"{text!r}: several values; write [{written}] for a list, or quote the text")
    if isinstance(found, dict) and any(value is None and ":" in str(key) for key, value in found.items()):
        raise ConfigurationError(f"{text!r}: put a space after each colon")
    return found

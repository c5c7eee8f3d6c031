"""Words and options of `profile run` and `infer` in; the checked configuration out, or printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from forwardbook.cli.printing import put

if TYPE_CHECKING:
    from pydantic import JsonValue

    from forwardbook.configuration.composition import Composed
    from forwardbook.configuration.schema import Configuration

PANEL = "Configuration"
ConfigDir = Annotated[
    str | None,
    typer.Option(
        "--config-dir",
        metavar="DIR",
        help="Your groups, read before the shipped ones; by default conf/; `none` for none.",
        rich_help_panel=PANEL,
    ),
]
ConfigName = Annotated[
    str, typer.Option("--config-name", help="The file to begin with.", rich_help_panel=PANEL)
]
Shown = Annotated[
    Literal["job"] | None,
    typer.Option("--cfg", help="Print the configuration and do nothing else.", rich_help_panel=PANEL),
]
Resolve = Annotated[
    bool, typer.Option("--resolve", help="With --cfg: replace ${interpolations}.", rich_help_panel=PANEL)
]


@dataclass(frozen=True)
class Source:
    """Where a configuration is composed from, and whether it is only to be seen."""

    folder: str | None = None
    name: str = "config"
    shown: str | None = None
    resolve: bool = False


def configuration(
    words: Sequence[str] | None,
    places: Sequence[tuple[str, str]],
    options: Mapping[str, tuple[str, JsonValue]],
    source: Source,
) -> tuple[Composed, Configuration]:
    """What was asked for: words without `=` fill `places` (name, key) in order, the others are overrides.

    `options` are flags with the key that each sets and its value; None was not given.

    Raises:
        ConfigurationError: for what cannot be composed, and for a key that is set twice.
        typer.BadParameter: for more names than there are places.
        typer.Exit: after the configuration was printed.
    """
    from forwardbook.configuration.checked import configured, roots
    from forwardbook.configuration.overrides import Override, given, is_override

    overrides: list[str | Override] = []
    free = list(places)
    for word in words or ():
        if is_override(word) and not Path(word).exists():
            overrides.append(word)
        elif free:
            name, key = free.pop(0)
            overrides.append(given(name, key, word))
        else:
            names = " and ".join(name for name, _ in places)
            raise typer.BadParameter(f"{word!r} is one name too many: {names}, then key=value")
    overrides += [
        given(flag, key, value) for flag, (key, value) in options.items() if value not in (None, {})
    ]
    _refuse_twice(overrides)
    composed, found = configured(roots(source.folder, Path.cwd()), source.name, overrides)
    if source.shown is not None:
        put(composed.text(source.resolve), end="")
        raise typer.Exit(0)
    return composed, found


def _refuse_twice(overrides: Sequence[object]) -> None:
    """An option and an override of the same key contradict each other.

    Raises:
        ConfigurationError: naming every such pair.
    """
    from forwardbook.configuration.overrides import ConfigurationError, Override, parsed

    flags = [one for one in overrides if isinstance(one, Override)]
    words = parsed([one for one in overrides if isinstance(one, str)])
    twice = [
        f"{flag.text} and {word.text}"
        for flag in flags
        for word in words
        if word.key == flag.key or (flag.text == "MODEL" and word.key == "model" and word.package is None)
    ]
    if twice:
        raise ConfigurationError(f"reading options: {'; '.join(twice)} set the same; give one of them")

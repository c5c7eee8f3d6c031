"""Folders, a primary configuration and overrides in; the composed values and where each came from out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from forwardbook.configuration.defaults import Mounted, split
from forwardbook.configuration.nearest import meant
from forwardbook.configuration.overrides import ConfigurationError, Override, parsed
from forwardbook.configuration.search import SearchPath

if TYPE_CHECKING:
    from omegaconf import DictConfig
    from pydantic import JsonValue


@dataclass(frozen=True)
class Composed:
    """The values, with interpolations as they were written; `choices` are the groups' options."""

    values: DictConfig
    mounted: tuple[Mounted, ...]
    overrides: tuple[Override, ...]
    choices: Mapping[str, JsonValue]

    def text(self, resolve: bool = False) -> str:
        """As YAML."""
        from omegaconf import OmegaConf

        return OmegaConf.to_yaml(self.values, resolve=resolve)

    def resolved(self) -> dict[str, JsonValue]:
        """Plain values, interpolations replaced.

        Raises:
            ConfigurationError: for interpolations that lead nowhere, and values that were left open (`???`).
        """
        from omegaconf import OmegaConf
        from omegaconf.errors import OmegaConfBaseException

        try:
            missing = sorted(OmegaConf.missing_keys(self.values))
            found = OmegaConf.to_container(self.values, resolve=True)
        except OmegaConfBaseException as error:
            told = " ".join(str(error).split())
            raise ConfigurationError(f"composing: {told}") from None
        if missing:
            raise ConfigurationError(f"composing: give a value for {', '.join(missing)}")
        return cast("dict[str, JsonValue]", found)

    def origin(self, key: str) -> str:
        """What last gave a dotted key its value: an override or a file."""
        for override in reversed(self.overrides):
            if f"{key}.".startswith(f"{override.key}.") or override.key.startswith(f"{key}."):
                return override.text
        for one in reversed(self.mounted):
            if key in _keys(one.file.content, one.package):
                return str(one.file.path)
        return "the configuration"


def compose(
    roots: Sequence[Path],
    name: str = "config",
    overrides: Sequence[str | Override] = (),
    free: Sequence[str] = (),
    base: Mapping[str, JsonValue] | None = None,
) -> Composed:
    """The primary configuration `name`, every file of its defaults lists, and the overrides.

    All of it lies above `base`. Below the keys in `free` any name may be set; elsewhere `+` adds one.

    Raises:
        ConfigurationError: for files that cannot be read, groups, options and keys that do not exist.
    """
    from omegaconf import DictConfig, OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    search = SearchPath(roots)
    tree, changes = split(parsed(overrides), search)
    mounted = tree.walk(name)
    values = OmegaConf.create(dict(base or {}))
    assert isinstance(values, DictConfig)
    for one in mounted:
        content: object = one.file.content
        for part in reversed([part for part in one.package.split(".") if part]):
            content = {part: content}
        try:
            merged = OmegaConf.merge(values, OmegaConf.create(content))  # type: ignore[call-overload]
        except OmegaConfBaseException as error:
            told = " ".join(str(error).split())
            raise ConfigurationError(f"composing {one.file.path}: {told}") from None
        assert isinstance(merged, DictConfig)
        values = merged
    _apply(values, changes, search, free)
    return Composed(values, tuple(mounted), tuple(changes), tree.choices)


def _apply(values: DictConfig, changes: Sequence[Override], search: SearchPath, free: Sequence[str]) -> None:
    """Each override in turn.

    Raises:
        ConfigurationError: for keys that do not exist, that do and were to be added, and values that do not
            fit there, all of them.
    """
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    problems = []
    for one in changes:
        known = set(_keys(OmegaConf.to_container(values, resolve=False), ""))
        below = one.action == "change" and one.key.startswith(tuple(f"{key}." for key in free))
        if one.action in ("change", "delete") and one.key not in known and not below:
            near = meant(one.key, {*known, *search.groups()})
            problems.append(f"{one.text}: there is no key {one.key}{near}")
        elif one.action == "add" and not isinstance(one.value, (dict, list)) and _has(values, one.key):
            problems.append(f"{one.text}: {one.key} has a value already; write {one.text[1:]} to change it")
        else:
            try:
                _change(values, one)
            except OmegaConfBaseException as error:
                problems.append(f"{one.text}: {next(iter(str(error).splitlines()), '')}")
    if problems:
        raise ConfigurationError("applying overrides: " + "; ".join(problems))


def _change(values: DictConfig, one: Override) -> None:
    from omegaconf import OmegaConf

    if one.action != "delete":
        OmegaConf.update(values, one.key, one.value, merge=True, force_add=True)
        return
    parent, _, last = one.key.rpartition(".")
    holder = OmegaConf.select(values, parent) if parent else values
    del holder[last]


def _has(values: DictConfig, key: str) -> bool:
    from omegaconf import OmegaConf

    return OmegaConf.select(values, key, throw_on_missing=False) is not None


def _keys(value: object, at: str) -> Iterator[str]:
    """Every dotted key of nested mappings."""
    if at:
        yield at
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _keys(inner, f"{at}.{key}" if at else str(key))

"""A primary configuration and overrides in; every file that composes it, in order, with its place, out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from forwardbook.configuration.entries import Entry, entries_of
from forwardbook.configuration.overrides import ConfigurationError, Override
from forwardbook.configuration.search import ConfigFile, SearchPath

if TYPE_CHECKING:
    from pydantic import JsonValue


@dataclass(frozen=True)
class Mounted:
    """The content of one file and the dotted place where it goes; the root is empty."""

    file: ConfigFile
    package: str


@dataclass
class Tree:
    """The walk over defaults lists; what was chosen, by whom, and what has been used."""

    search: SearchPath
    chosen: dict[str, JsonValue] = field(default_factory=dict)
    deleted: dict[str, JsonValue] = field(default_factory=dict)
    appended: list[Entry] = field(default_factory=list)
    choices: dict[str, JsonValue] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    asked: dict[str, str] = field(default_factory=dict)
    within: list[Path] = field(default_factory=list)

    def walk(self, name: str) -> list[Mounted]:
        """Every file below a primary configuration.

        Raises:
            ConfigurationError: for files and options that are missing, and choices that nothing takes.
        """
        file = self.search.load(name)
        if file is None:
            where = ", ".join(str(root) for root in self.search.roots)
            raise ConfigurationError(f"composing {name}: there is no {name}.yaml in {where}")
        place = Entry(path=name).placed("", "")
        found = self._file(file, place, primary=True)
        self._all_used()
        return found

    def _file(self, file: ConfigFile, at: Entry, primary: bool = False) -> list[Mounted]:
        """A file and its defaults; its own values come last where no `_self_` says otherwise."""
        if file.path in self.within:
            names = " -> ".join(str(path) for path in [*self.within, file.path])
            raise ConfigurationError(f"composing: a defaults list leads back to its own file: {names}")
        self.within.append(file.path)
        try:
            return self._parts(file, at.with_header(file.package), primary)
        finally:
            self.within.pop()

    def _parts(self, file: ConfigFile, at: Entry, primary: bool) -> list[Mounted]:
        package = at.final_package()
        entries = entries_of(file)
        if all(not one.is_self for one in entries):
            entries.append(Entry(path="_self_"))
        if primary:
            entries += self.appended
        placed = [one.placed(at.folder, package) for one in entries]
        for one in placed:
            if one.override:
                self.chosen.setdefault(one.key, one.option)
                self.asked.setdefault(one.key, str(file.path))
        parts: list[list[Mounted] | Entry] = []
        for one in reversed(placed):  # what comes later in a list decides first what its subtrees override
            if one.is_self:
                parts.append([Mounted(file, package)])
            elif not one.override:
                parts.append(self._entry(one))
        ready = [self._interpolated(part) if isinstance(part, Entry) else part for part in parts]
        return [mounted for part in reversed(ready) for mounted in part]

    def _entry(self, entry: Entry) -> list[Mounted] | Entry:
        if entry.group is not None and entry.key in self.chosen:
            self.used.add(entry.key)
            entry = replace(entry, option=self.chosen[entry.key])
        if isinstance(entry.option, list):
            parts = [self._entry(entry.single(str(option))) for option in entry.option]
            return [mounted for part in parts if not isinstance(part, Entry) for mounted in part]
        if isinstance(entry.option, str) and "${" in entry.option:
            return entry  # until all groups beside it are chosen
        return self._loaded(entry)

    def _interpolated(self, entry: Entry) -> list[Mounted]:
        """An option such as `${model}_fast`, which follows from other choices."""
        from omegaconf import OmegaConf
        from omegaconf.errors import OmegaConfBaseException

        values = OmegaConf.create({**self.choices, "_option_": entry.option})
        try:
            option = str(values["_option_"])
        except OmegaConfBaseException:
            known = ", ".join(sorted(self.choices)) or "none"
            raise ConfigurationError(
                f"choosing {entry.key}={entry.option}: the choices known here are {known}"
            ) from None
        return self._loaded(replace(entry, option=option))

    def _loaded(self, entry: Entry) -> list[Mounted]:
        if entry.group is not None:
            if self._is_deleted(entry):
                return []
            if entry.key in self.choices:
                raise ConfigurationError(
                    f"choosing {entry.key}: defaults lists have it twice, as {self.choices[entry.key]} and "
                    f"{entry.option}; write `- override {entry.key}: {entry.option}` to change it"
                )
            self.choices[entry.key] = entry.option
        if entry.option is None and entry.group is not None:
            return []
        if entry.option == "???":
            options = ", ".join(self.search.options(entry.folder))
            raise ConfigurationError(f"choosing {entry.key}: give {entry.key}=OPTION; there are: {options}")
        file = self.search.load(entry.name)
        if file is None:
            if entry.optional:
                return []
            raise self._missing(entry)
        return self._file(file, entry)

    def _missing(self, entry: Entry) -> ConfigurationError:
        if entry.group is None or self.search.is_group(entry.folder):
            folder, _, option = entry.name.rpartition("/")
            return self.search.unknown_option(folder, option)
        from forwardbook.configuration.nearest import meant

        near = meant(entry.folder, self.search.groups())
        return ConfigurationError(f"choosing {entry.key}={entry.option}: there is no such group{near}")

    def _is_deleted(self, entry: Entry) -> bool:
        if entry.key not in self.deleted:
            return False
        wanted = self.deleted[entry.key]
        if wanted is not None and wanted != entry.option:
            return False
        self.used.add(f"~{entry.key}")
        return True

    def _all_used(self) -> None:
        from forwardbook.configuration.nearest import meant

        problems = []
        for key, option in self.chosen.items():
            if key not in self.used:
                near = meant(key, [known for known in self.choices if known != key])
                where = f"{self.asked[key]}: " if key in self.asked else ""
                adding = f"(+{key}={option} adds it)"
                problems.append(f"{where}choosing {key}={option}: no defaults list has {key}{near} {adding}")
        problems += [f"leaving out ~{key}: no defaults list has it" for key in self._unused_deletions()]
        if problems:
            raise ConfigurationError("composing: " + "; ".join(problems))

    def _unused_deletions(self) -> Iterator[str]:
        return (key for key in self.deleted if f"~{key}" not in self.used)


def split(overrides: Sequence[Override], search: SearchPath) -> tuple[Tree, list[Override]]:
    """The walk with its choices of groups, and the overrides of values that remain."""
    tree, values = Tree(search), []
    for one in overrides:
        if not search.is_group(one.key):
            if one.package is not None:
                from forwardbook.configuration.nearest import meant

                near = meant(one.key, search.groups())
                raise ConfigurationError(f"reading {one.text!r}: there is no group {one.key}{near}")
            values.append(one)
        elif one.action == "delete":
            tree.deleted[one.override_key] = one.value if one.has_value else None
        else:
            option = _option(one)
            if one.action == "change":
                tree.chosen[one.override_key] = option
            elif one.action == "add":
                entry = Entry(group=one.key, option=option, package=one.package)
                tree.appended.append(entry)
            else:
                raise ConfigurationError(f"reading {one.text!r}: ++ is for values; write {one.text[2:]}")
    return tree, values


def _option(one: Override) -> JsonValue:
    value = one.value
    if isinstance(value, str) and value:
        return value
    if value is None or value == "":
        raise ConfigurationError(f"reading {one.text!r}: to leave {one.key} out write ~{one.key}")
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return cast("JsonValue", value)
    raise ConfigurationError(f"reading {one.text!r}: {one.key} is a group; give the name of an option")

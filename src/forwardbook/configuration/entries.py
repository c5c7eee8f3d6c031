"""A defaults list as written in; its entries, and where each one's file and values go, out."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from forwardbook.configuration.overrides import ConfigurationError
from forwardbook.configuration.search import ConfigFile

if TYPE_CHECKING:
    from pydantic import JsonValue

GLOBAL = "_global_"
KEY = re.compile(r"(?P<words>(?:(?:optional|override)\s+)*)(?P<group>/?[\w./-]+)(@(?P<package>[\w.]*))?")


@dataclass(frozen=True)
class Entry:
    """`group@package: option`, or the path of a file; `base` and `parent` say in whose list it stands."""

    group: str | None = None
    path: str = ""
    option: JsonValue = None
    package: str | None = None
    optional: bool = False
    override: bool = False
    base: str = ""
    parent: str = ""
    header: str | None = None

    @property
    def is_self(self) -> bool:
        """The file's own values."""
        return self.group is None and self.path == "_self_"

    def placed(self, base: str, parent: str) -> Entry:
        """The same in the list of a file in the folder `base`, whose values go to `parent`."""
        return replace(self, base=base, parent=parent)

    def with_header(self, header: str | None) -> Entry:
        """The same with the package that its file names, which is absolute."""
        if header is None:
            return self
        absolute = header if header.split(".")[0] == GLOBAL else f"{GLOBAL}.{header}".rstrip(".")
        return replace(self, header=absolute)

    def single(self, option: str) -> Entry:
        """One of several options."""
        return replace(self, group=None, path=f"{self.group}/{option}", option=None)

    @property
    def _written(self) -> str:
        return self.group if self.group is not None else self.path.rpartition("/")[0]

    @property
    def folder(self) -> str:
        """The folder of the file, from the root."""
        written = self._written
        if written.startswith("/") or self.path.startswith("/"):
            return written.lstrip("/")
        return "/".join(part for part in (self.base, written) if part)

    @property
    def name(self) -> str:
        """The file, from the root, without its suffix."""
        last = str(self.option) if self.group is not None else self.path.rpartition("/")[2]
        return "/".join(part for part in (self.folder, last) if part)

    @property
    def key(self) -> str:
        """What an override calls it: the folder, and the package where that is another one."""
        package = self._package(None)
        default = self.folder.replace("/", ".")
        return self.folder if package == default else f"{self.folder}@{package or GLOBAL}"

    def final_package(self) -> str:
        """Where its values go, dotted, from the root."""
        return self._package(self.header)

    def _package(self, header: str | None) -> str:
        own = self.package if self.package is not None else header
        if own == "_here_":
            own = ""
        if own is None:
            own = self._written.lstrip("/").replace("/", ".")
        own = own.replace("_group_", f"{GLOBAL}.{self.folder.replace('/', '.')}")
        parts = [part for part in f"{self.parent}.{own}".split(".") if part]
        last = max((i for i, part in enumerate(parts) if part == GLOBAL), default=-1)
        return ".".join(parts[last + 1 :])


def entries_of(file: ConfigFile) -> list[Entry]:
    """The entries of a file's defaults list.

    Raises:
        ConfigurationError: for what is no entry, `_self_` twice, and overrides that are not at the end.
    """
    found = [_entry(one, file) for one in file.defaults or ()]
    if sum(one.is_self for one in found) > 1:
        raise ConfigurationError(f"reading {file.path}: _self_ stands twice in the defaults list")
    kinds = [one.override for one in found if not one.is_self]
    if kinds != sorted(kinds):
        raise ConfigurationError(
            f"reading {file.path}: `override` entries go to the end of the defaults list"
        )
    return found


def _entry(written: JsonValue, file: ConfigFile) -> Entry:
    if isinstance(written, str) and (match := KEY.fullmatch(written)) and not match["words"]:
        return Entry(path=match["group"], package=match["package"])
    if isinstance(written, dict) and len(written) == 1:
        key, option = next(iter(written.items()))
        match = KEY.fullmatch(str(key))
        fits = option is None or isinstance(option, (str, list))
        if match is not None and fits:
            words = match["words"].split()
            return Entry(
                match["group"], "", option, match["package"], "optional" in words, "override" in words
            )
    raise ConfigurationError(
        f"reading {file.path}: the defaults list has {written!r}; write `- group: option`, "
        "`- group@place: option`, `- file` or `- _self_`"
    )

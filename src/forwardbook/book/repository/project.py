"""The project that a folder holds: its metadata files as bytes in; name, version, needs and commands out."""

from __future__ import annotations

import configparser
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from email.parser import BytesParser
from typing import cast

Read = Callable[[str], bytes | None]
_SHORT = re.compile(r"^[^\n]{1,300}$")


@dataclass(frozen=True, slots=True)
class Project:
    """What a project says of itself; `origin` is the file that says it, `scripts` are (command, object)."""

    name: str = ""
    version: str = ""
    description: str = ""
    requires_python: str = ""
    dependencies: tuple[str, ...] = ()
    scripts: tuple[tuple[str, str], ...] = ()
    origin: str = ""


def read_project(installed: Iterable[str], read: Read) -> Project:
    """The project that pyproject.toml, setup.cfg or else one of the `installed` metadata files names."""
    for path in ("pyproject.toml", "setup.cfg", *sorted(installed)):
        found = _from(path, read(path), read)
        if found is not None:
            return found
    return Project()


def _from(path: str, data: bytes | None, read: Read) -> Project | None:
    if data is None:
        return None
    try:
        if path.endswith(".toml"):
            return _from_toml(path, data)
        if path.endswith(".cfg"):
            return _from_cfg(path, data)
        return _from_metadata(path, data, read)
    except (ValueError, configparser.Error, AttributeError, TypeError):
        return None


def _from_toml(path: str, data: bytes) -> Project | None:
    table = tomllib.loads(data.decode("utf-8-sig")).get("project")
    if not isinstance(table, dict) or not isinstance(table.get("name"), str):
        return None
    scripts = table.get("scripts")
    return Project(
        _text(table.get("name")),
        _text(table.get("version")),
        _text(table.get("description")),
        _text(table.get("requires-python")),
        tuple(_text(each) for each in cast("list[object]", table.get("dependencies") or [])),
        tuple((str(name), _text(place)) for name, place in sorted(scripts.items()))
        if isinstance(scripts, dict)
        else (),
        path,
    )


def _from_cfg(path: str, data: bytes) -> Project | None:
    cfg = configparser.ConfigParser(interpolation=None)
    cfg.read_string(data.decode("utf-8-sig"))
    if not cfg.has_option("metadata", "name"):
        return None
    scripts = [
        line.partition("=")
        for line in cfg.get("options.entry_points", "console_scripts", fallback="").splitlines()
        if "=" in line
    ]
    needs = cfg.get("options", "install_requires", fallback="").splitlines()
    return Project(
        _text(cfg.get("metadata", "name")),
        _text(cfg.get("metadata", "version", fallback="")),
        _text(cfg.get("metadata", "description", fallback="")),
        _text(cfg.get("options", "python_requires", fallback="")),
        tuple(need.strip() for need in needs if need.strip()),
        tuple((name.strip(), place.strip()) for name, _, place in scripts),
        path,
    )


def _from_metadata(path: str, data: bytes, read: Read) -> Project | None:
    said = BytesParser().parsebytes(data, headersonly=True)
    if not said.get("Name"):
        return None
    needs = [str(need) for need in said.get_all("Requires-Dist") or [] if "extra ==" not in str(need)]
    entries = read(path.rpartition("/")[0] + "/entry_points.txt") or b""
    return Project(
        _text(said["Name"]),
        _text(said.get("Version")),
        _text(said.get("Summary")),
        _text(said.get("Requires-Python")),
        tuple(needs),
        tuple(_console_scripts(entries)),
        path,
    )


def _console_scripts(data: bytes) -> Iterable[tuple[str, str]]:
    cfg = configparser.ConfigParser(interpolation=None, delimiters=("=",))
    cfg.read_string(data.decode("utf-8", errors="replace"))
    section: Mapping[str, str] = cfg["console_scripts"] if cfg.has_section("console_scripts") else {}
    return [(name, place) for name, place in sorted(section.items())]


def _text(value: object) -> str:
    """A short text of one line; anything else counts as not said."""
    return value.strip() if isinstance(value, str) and _SHORT.match(value.strip()) else ""

"""A package in; out its units of work, each with its classes and the state of its sources, read as text."""

from __future__ import annotations

import fnmatch
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from forwardbook.analyzers.instances.adapters import Adapter, adapter_for
from forwardbook.analyzers.instances.find import package_place
from forwardbook.analyzers.reader import ClassTable, ModuleClass
from forwardbook.errors import ForwardbookError
from forwardbook.pipeline.versions import current_versions


@dataclass(frozen=True, slots=True)
class Unit:
    """Classes that are worked on in one process, and the hash of all that they are made of."""

    name: str
    library: str
    classes: tuple[ModuleClass, ...]
    stamp: str


@dataclass(frozen=True, slots=True)
class Plan:
    """A library's version and chosen units, in order; `stamp` is the state of all its files."""

    library: str
    version: str
    stamp: str
    units: tuple[Unit, ...]
    classes: int = 0
    """How many the whole library has, in units of the plan or not."""


class NoSuchPackage(ForwardbookError):
    """A package that is not installed, or holds no class of modules."""


def planned(library: str, only: str = "") -> Plan:
    """The units with a name or a class that fits one of `only`, comma-separated patterns with * and ?.

    Raises:
        NoSuchPackage: where there is nothing to work on; the message says what was looked for.
    """
    place = package_place(library, Path.cwd())
    if place is None:
        raise NoSuchPackage(
            f"looking for the package {library}: it is not installed; install it, "
            "or give its folder's name when it is in the current folder"
        )
    adapter = adapter_for(library)
    table = ClassTable(lambda name: package_place(name, Path.cwd()))
    found = table.callable_classes(library, adapter.reads)
    if not found:
        raise NoSuchPackage(
            f"reading {place}: it defines no class that derives from torch.nn.Module and has a forward()"
        )
    versions = current_versions(library)
    whole = _state(place, versions)
    units = _units(library, found, adapter, place, versions)
    chosen = tuple(unit for unit in units if not only or _fits(unit, only))
    if not chosen:
        names = ", ".join(unit.name for unit in units[:5])
        raise NoSuchPackage(
            f"looking for units of {library} that fit {only!r}: there is none; there are {names}, ..."
        )
    return Plan(library, versions.get(library, ""), whole, chosen, len(found))


def _fits(unit: Unit, only: str) -> bool:
    names = (unit.name, *(one.full_name for one in unit.classes))
    patterns = [one.strip() for one in only.split(",")]
    whole = [one if set(one) & set("*?[") else f"*{one}*" for one in patterns if one]
    return any(fnmatch.fnmatchcase(name, one) for one in whole for name in names)


def _units(
    library: str, found: Sequence[ModuleClass], adapter: Adapter, place: Path, versions: dict[str, str]
) -> list[Unit]:
    groups: dict[str, list[ModuleClass]] = {}
    for one in found:
        groups.setdefault(adapter.unit(one.module), []).append(one)
    shared = _shared(place, [one.file for one in found])
    return [
        Unit(name, library, tuple(classes), _stamp(classes, shared, versions))
        for name, classes in sorted(groups.items())
    ]


def _stamp(classes: Sequence[ModuleClass], shared: str, versions: dict[str, str]) -> str:
    """A hash over the folders of the classes' files, what the whole library shares, and all versions."""
    digest = hashlib.sha256(f"{sorted(versions.items())}{shared}".encode())
    folders = sorted({one.file.parent for one in classes})
    for file in sorted({*(f for folder in folders for f in folder.glob("*.py")), *(c.file for c in classes)}):
        digest.update(f"{file.name}\0".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:32]


def _shared(place: Path, files: Sequence[Path]) -> str:
    """A hash of the package's files in folders that hold no classes of the catalogue."""
    if place.is_file():
        return ""
    holders = {file.parent for file in files}
    digest = hashlib.sha256()
    for file in sorted(place.rglob("*.py")):
        if file.parent not in holders:
            digest.update(f"{file.relative_to(place)}\0".encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()


def _state(place: Path, versions: dict[str, str]) -> str:
    """What the folder tells of all files without opening one, and all versions."""
    digest = hashlib.sha256(str(sorted(versions.items())).encode())
    for file in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
        status = file.stat()
        digest.update(f"{file.name} {status.st_size} {status.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:32]

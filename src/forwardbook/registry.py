"""The registry: the name of a class in, its calculator out, loaded when it is first asked for."""

from __future__ import annotations

import difflib
import importlib.util
import linecache
import sys
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import cast

from forwardbook.calculator import Calculator
from forwardbook.errors import ForwardbookError
from forwardbook.generate import render
from forwardbook.schema import Entry
from forwardbook.verdicts import Judgement, of_regime
from forwardbook.workspace import Database, Workspace


class UnknownClassError(ForwardbookError):
    """A name that no entry of the database has, or that several have."""


class Registry:
    """The calculators of a workspace; the database is read again when its file changed."""

    def __init__(self, workspace: Workspace | None = None) -> None:
        self.workspace = workspace or Workspace.find()
        self._stamp: tuple[int, int] | None = None
        self._database: Database | None = None
        self._loaded: dict[str, Calculator] = {}

    @property
    def database(self) -> Database:
        """The entries as the file has them by now."""
        path = self.workspace.database_path
        status = path.stat() if path.exists() else None
        stamp = (status.st_mtime_ns, status.st_size) if status else None
        if self._database is None or stamp != self._stamp:
            self._database, self._stamp = self.workspace.load(), stamp
            self._loaded.clear()
        return self._database

    def names(self) -> tuple[str, ...]:
        """The keys of all entries."""
        return tuple(self.database)

    def load(self, name: str) -> Calculator:
        """The calculator of a class, by key, class name, full class name or calculator name."""
        key, entry = self.database.resolved(find(self.database, name))
        if key not in self._loaded:
            self._loaded[key] = self._calculator(entry)
        return self._loaded[key]

    def judgement(self, name: str, regime: str) -> Judgement:
        """The verdict of a regime of a class, and why it is no better than that."""
        entry = self.database.resolved(find(self.database, name))[1]
        return of_regime(next(one for one in entry.regimes if one.name == regime), entry.parameters)

    def _calculator(self, entry: Entry) -> Calculator:
        for folder in (self.workspace.generated_folder, Path(__file__).parent / "generated_modules"):
            path = folder / entry.generated_file_name
            if entry.generated_file_name and path.is_file():
                calculator = _from_module(_module_of(path), entry)
                if calculator is not None:
                    return calculator
        return from_entry(entry)


def load(name: str, workspace: Workspace | None = None) -> Calculator:
    """The calculator of a class in a workspace, by default the one around the current folder."""
    return _registry(workspace or Workspace.find()).load(name)


def judgement(name: str, regime: str, workspace: Workspace | None = None) -> Judgement:
    """The verdict of a regime of a class in a workspace, and why it is no better than that."""
    return _registry(workspace or Workspace.find()).judgement(name, regime)


def names(workspace: Workspace | None = None) -> tuple[str, ...]:
    """The keys of all entries of a workspace, by default the one around the current folder."""
    return _registry(workspace or Workspace.find()).names()


def from_entry(entry: Entry) -> Calculator:
    """The calculator of an entry, rendered in memory: the text is that which `generate.write` would write."""
    name = (
        f"forwardbook.generated_modules.{entry.generated_file_name.removesuffix('.py') or entry.class_name}"
    )
    module = ModuleType(name)
    text, place = render(entry), f"<rendered from the entry of {entry.full_class_name}>"
    linecache.cache[place] = (len(text), None, text.splitlines(keepends=True), place)  # for tracebacks
    exec(compile(text, place, "exec"), module.__dict__)
    calculator = _from_module(module, entry)
    if calculator is None:
        raise ForwardbookError(
            f"rendering {entry.full_class_name}: no calculator came out; generate it again"
        )
    return calculator


def find(database: Database, name: str) -> str:
    """The key of the entry that a name means, one of the workspace's own before those it is beneath."""
    if name in database:
        return name
    keys = [key for key in database if name in _names(database, key)]
    keys = [key for key in keys if key in database.own] or keys  # a class of the workspace's own goes first
    if len(keys) == 1:
        return keys[0]
    if keys:
        raise UnknownClassError(
            f"looking for {name}: several classes have this name, use a key: {_list(keys)}"
        )
    known = {other: key for key in database for other in (key, *_names(database, key))}
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
    hint = f"did you mean {' or '.join(near)}?" if near else "`forwardbook list` prints the names it has."
    raise UnknownClassError(
        f"looking for {name}: it is not in the database; {hint} "
        "A new class is added by: forwardbook analyze-module package.module.Class"
    )


def _names(database: Database, key: str) -> tuple[str, ...]:
    head = database.head(key)
    full = head.full_class_name
    return full, full.rpartition(".")[2], head.generated_class_name


def _list(keys: list[str]) -> str:
    return ", ".join(keys[:8]) + (" ..." if len(keys) > 8 else "")


def _module_of(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"forwardbook.generated_modules.{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ForwardbookError(f"loading {path}: it is not a Python file")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise ForwardbookError(
            f"loading {path}: {type(error).__name__}: {error}; generate the file again"
        ) from error
    sys.modules[spec.name] = module  # so that calculators can be pickled
    return module


def _from_module(module: ModuleType, entry: Entry) -> Calculator | None:
    """The entry's calculator in a module; None where the file belongs to another class."""
    found = getattr(module, entry.generated_class_name or f"{entry.class_name}Calculator", None)
    if found is None or found.full_class_name != entry.full_class_name:
        return None
    return cast(Calculator, found())


@lru_cache(maxsize=8)
def _registry(workspace: Workspace) -> Registry:
    return Registry(workspace)

"""The registry: the name of a class in, its calculator out, loaded when it is first asked for."""

from __future__ import annotations

import difflib
import linecache
import sys
import warnings
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import cast

from forwardbook.calculator import Calculator
from forwardbook.errors import ForwardbookError
from forwardbook.generate import calculator_name, present_text, render
from forwardbook.schema import Entry
from forwardbook.verdicts import Judgement, is_claimed, of_regime
from forwardbook.workspace import Database, Workspace


class UnknownClassError(ForwardbookError):
    """A name that no entry of the database has, or that several have."""


class CalculatorIgnored(UserWarning):
    """The file of a calculator is not what its entry renders to, and the entry was used."""


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
        wanted = next(one for one in entry.regimes if one.name == regime)
        return of_regime(wanted, entry.parameters, claimed=is_claimed(entry))

    def _calculator(self, entry: Entry) -> Calculator:
        text = render(entry)
        for folder in (self.workspace.generated_folder, Path(__file__).parent / "generated_modules"):
            path = folder / entry.generated_file_name
            if entry.generated_file_name and path.is_file():
                if present_text(path) == text:
                    return _calculator_in(text, entry, str(path))
                if folder == self.workspace.generated_folder:
                    warnings.warn(
                        f"{path} is not what the database says of {entry.full_class_name}: it was not used, "
                        "the formulas of the database were; write it again with: forwardbook analyze-module "
                        f"{entry.full_class_name} --force",
                        CalculatorIgnored,
                        stacklevel=3,
                    )
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
    text, place = render(entry), f"<rendered from the entry of {entry.full_class_name}>"
    linecache.cache[place] = (len(text), None, text.splitlines(keepends=True), place)  # for tracebacks
    return _calculator_in(text, entry, place)


def find(database: Database, name: str) -> str:
    """The key of the entry that a name means, one of the workspace's own before those it is beneath."""
    keys = matches(database, name)
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


def matches(database: Database, name: str) -> list[str]:
    """The keys of all entries that a name may mean; a class of the workspace's own goes first."""
    if name in database:
        return [name]
    keys = [key for key in database if name in _names(database, key)]
    return [key for key in keys if key in database.own] or keys


def _names(database: Database, key: str) -> tuple[str, ...]:
    head = database.head(key)
    full = head.full_class_name
    return tuple(filter(None, (full, full.rpartition(".")[2], head.generated_class_name)))


def _list(keys: list[str]) -> str:
    return ", ".join(keys[:8]) + (" ..." if len(keys) > 8 else "")


def _calculator_in(text: str, entry: Entry, place: str) -> Calculator:
    """The calculator in the text that an entry renders to; `place` is the file that holds it, if any.

    The text is ours: no file is run, whatever lies in the folder of calculators.
    """
    stem = entry.generated_file_name.removesuffix(".py") or calculator_name(entry)
    module = ModuleType(f"forwardbook.generated_modules.{stem}")
    try:
        exec(compile(text, place, "exec"), module.__dict__)
        found = getattr(module, calculator_name(entry))
    except Exception as error:  # Python refuses what is too deep or too long
        raise ForwardbookError(
            f"rendering {entry.full_class_name}: {type(error).__name__}: {str(error)[:200]}; "
            f"analyse it again: forwardbook analyze-module {entry.full_class_name} --force"
        ) from error
    if not place.startswith("<"):
        module.__file__ = place
        sys.modules[module.__name__] = module  # so that calculators can be pickled
    return cast(Calculator, found())


@lru_cache(maxsize=8)
def _registry(workspace: Workspace) -> Registry:
    return Registry(workspace)

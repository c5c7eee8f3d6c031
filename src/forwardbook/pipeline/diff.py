"""Two states in (databases, git revisions, installations, or the code now); out what changed between them."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

from forwardbook.errors import ForwardbookError
from forwardbook.guard.change import ClassChange, class_change, unchanged
from forwardbook.guard.findings import SHOWN, Findings, Trouble
from forwardbook.guard.settings import Settings, read_settings
from forwardbook.pipeline.catalogue.copies import whole
from forwardbook.pipeline.child.job import Limits
from forwardbook.pipeline.located import located
from forwardbook.pipeline.regenerate.current import Current, Now, Told
from forwardbook.pipeline.regenerate.stale import readable
from forwardbook.pipeline.spread import Spread
from forwardbook.registry import find
from forwardbook.schema import Entry
from forwardbook.workspace import Database, Workspace
from forwardbook.workspace.database_file import database_at, database_in
from forwardbook.workspace.folder import DATABASE_NAME
from forwardbook.workspace.installation import packages_folder
from forwardbook.workspace.kept_outcomes import KeptOutcomes
from forwardbook.workspace.revision import commit_of, export

NOW = "now"
IMPORTED_BEFORE = ("torch", "numpy")
"""Of which a process has one version, ours, whatever else it imports."""


@dataclass(frozen=True)
class Asked:
    """Which classes are compared, and how; `stored` takes databases as they are and derives nothing."""

    names: tuple[str, ...] = ()
    library: str = ""
    stored: bool = False
    tolerance: Fraction | None = None
    spread: Spread = Spread()
    limits: Limits = field(default_factory=Limits.given)


@dataclass
class Side:
    """One state: its entries by full class name, and the classes that could not be told."""

    name: str
    entries: dict[str, Entry] = field(default_factory=dict)
    troubles: list[Trouble] = field(default_factory=list)
    derived: int = 0


def diff(
    workspace: Workspace,
    first: str,
    second: str,
    asked: Asked,
    told: Told = lambda doing, done, total: None,
) -> Findings:
    """Everything that changed between two states, of the classes that both have.

    Raises:
        ForwardbookError: for a state that is neither of the four, or cannot be read.
    """
    settings = read_settings(workspace.root)
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="forwardbook-")))
        every = any(_is_installation(name) for name in (first, second))
        sides = [
            _Reader(workspace, asked, scratch / str(number), told, every).side(name)
            for number, name in enumerate((first, second))
        ]
    before, after = sides
    shared = [name for name in before.entries if name in after.entries]
    missing = [
        [name for name in one.entries if name not in other.entries] for one, other in (sides, sides[::-1])
    ]
    changes = tuple(_change(name, before, after, settings, workspace.root) for name in sorted(shared))
    same = [(one.key, one.full_class_name) for one in changes if not one.is_changed][:SHOWN]
    tolerance = settings.tolerance if asked.tolerance is None else asked.tolerance
    untold = {trouble.full_class_name for side in sides for trouble in side.troubles}
    only = tuple(tuple(sorted(set(names) - untold)) for names in missing)
    return Findings(
        (first, second),
        changes,
        tuple(trouble for side in sides for trouble in side.troubles),
        (),
        tolerance,
        len(shared),
        before.derived + after.derived,
        (only[0], only[1]),
        tuple(unchanged(key, after.entries[name], settings.sizes_of(name, key)) for key, name in same),
    )


def _change(name: str, before: Side, after: Side, settings: Settings, folder: Path) -> ClassChange:
    entry = after.entries[name]
    key = f"{entry.library}_{entry.class_name}"
    change = class_change(key, before.entries[name], entry, settings.sizes_of(name, key))
    return located(change, entry, folder) if change.is_changed else change


@dataclass
class _Reader:
    workspace: Workspace
    asked: Asked
    scratch: Path
    told: Told
    every: bool = False

    def side(self, name: str) -> Side:
        """The state that a name means."""
        path = Path(name)
        if name == NOW and not path.exists():
            return self._now(name, self.workspace.root, self._wanted(self.workspace.load()))
        if path.is_file():
            return self._stored(name, path)
        packages = packages_folder(path) if path.is_dir() else None
        if packages is not None:
            return self._installation(name, packages)
        if path.is_dir() and (path / DATABASE_NAME).is_file():
            return self._stored(name, path / DATABASE_NAME)
        if path.is_dir():
            raise ForwardbookError(
                f"comparing {name}: the folder has no {DATABASE_NAME} and no installed packages; give a "
                "database, a git revision, a virtual environment or `now`"
            )
        return self._revision(name)

    def _wanted(self, database: Database) -> tuple[dict[str, Entry], str]:
        """The entries that are compared, by key, and the rules of those that name none."""
        named = [find(database, name) for name in self.asked.names]
        every = database if self.asked.library else database.own
        keys, _ = readable(database, named or sorted(every))
        library = self.asked.library
        kept = [key for key in keys if not library or database.head(key).library == library]
        return {key: whole(database, key) for key in kept}, database.rules_version

    def _stored(self, name: str, path: Path) -> Side:
        database = database_in(path)
        names = [one for one in self.asked.names if _has(database, one)]
        if self.asked.names and not names:
            return Side(name)
        wanted = _Reader(self.workspace, _with(self.asked, names), self.scratch, self.told)
        return Side(name, {e.full_class_name: e for e in wanted._wanted(database)[0].values()})

    def _revision(self, name: str) -> Side:
        commit = commit_of(self.workspace.root, name)
        database = database_at(self.workspace.root, commit, DATABASE_NAME)
        if database is None and self.asked.stored:
            raise ForwardbookError(
                f"comparing {name}: that commit has no {DATABASE_NAME}; leave --stored out"
            )
        wanted = self._wanted(self.workspace.load() if database is None else database)
        if self.asked.stored:
            return Side(name, {entry.full_class_name: entry for entry in wanted[0].values()})
        return self._now(name, export(self.workspace.root, commit, self.scratch), wanted)

    def _installation(self, name: str, packages: Path) -> Side:
        """The classes of every library that is installed there, derived from what is installed there."""
        entries, rules = self._wanted(self.workspace.load())
        there = {key: e for key, e in entries.items() if _is_installed(packages, e.library)}
        wrong = sorted({e.library for e in there.values()} & set(IMPORTED_BEFORE))
        if wrong and self.asked.library in wrong:
            raise ForwardbookError(
                f"comparing {name}: {wrong[0]} is what forwardbook itself runs on; install forwardbook in "
                "each of the two environments, run `forwardbook regenerate --all` in a copy of the workspace "
                "with each, and compare the databases: forwardbook diff A/module_db.json B/module_db.json"
            )
        there = {key: e for key, e in there.items() if e.library not in IMPORTED_BEFORE}
        if not there:
            libraries = ", ".join(sorted({e.library for e in entries.values()})) or "none"
            raise ForwardbookError(
                f"comparing {name}: none of the classes in question (of {libraries}) is installed in "
                f"{packages}; say which: --library transformers, or --class NAME"
            )
        return self._now(name, self.workspace.root, (there, rules), (str(packages),))

    def _now(
        self, name: str, folder: Path, wanted: tuple[dict[str, Entry], str], roots: tuple[str, ...] = ()
    ) -> Side:
        entries, rules = wanted
        kept = KeptOutcomes(self.workspace.root)
        now = Now(folder, kept, self.asked.spread, self.asked.limits, roots, self.told, self.every)
        side = Side(name)
        for one in now.of(entries, rules):
            _put(side, one, entries[one.key], self.workspace.root)
        return side


def _is_installation(name: str) -> bool:
    path = Path(name)
    return path.is_dir() and packages_folder(path) is not None


def _put(side: Side, one: Current, before: Entry, folder: Path) -> None:
    side.derived += one.derived
    if one.entry is not None:
        side.entries[one.full_class_name] = one.entry
    elif not one.gone:
        trouble = one.trouble(before, folder)
        reason = f"{side.name}: {trouble.reason.splitlines()[0]}"
        side.troubles.append(
            Trouble(trouble.key, trouble.full_class_name, reason, trouble.file, trouble.line)
        )


def _has(database: Database, name: str) -> bool:
    try:
        find(database, name)
    except ForwardbookError:
        return False
    return True


def _with(asked: Asked, names: list[str]) -> Asked:
    return replace(asked, names=tuple(names))


def _is_installed(packages: Path, library: str) -> bool:
    return (packages / library).is_dir() or (packages / f"{library}.py").is_file()

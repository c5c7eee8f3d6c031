"""A proved entry in; out its key, the entry in the database and its calculator on disk, or all as it was."""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from pydantic import JsonValue

from forwardbook import generate
from forwardbook.pipeline.catalogue.copies import freed
from forwardbook.schema import QUANTITIES, Entry
from forwardbook.workspace import Database, Workspace, WorkspaceError, write_atomically
from forwardbook.workspace.storage import drop_unfinished, locked, resolved

DIAGNOSTICS_NAME: Final = "diagnostics"


def check_writable(workspace: Workspace) -> None:
    """Refuse early, before minutes of work, where the database could not be written at the end."""
    path = workspace.database_path
    if path.exists() and not path.stat().st_mode & stat.S_IWUSR:
        raise WorkspaceError(f"writing {path}: the file is read-only; allow writing: chmod u+w {path}")
    folder = resolved(path).parent
    if folder.exists() and not os.access(folder, os.W_OK):
        raise WorkspaceError(f"writing {path}: the folder is not writable; run in a folder of your own")


def store(
    entry: Entry, workspace: Workspace, rules_version: str, *, force: bool = False
) -> tuple[str, Entry]:
    """Put an entry into the database and write its calculator; both, or neither."""
    return store_all([entry], workspace, rules_version, force=force)[0]


def store_all(
    entries: Iterable[Entry], workspace: Workspace, rules_version: str, *, force: bool = False
) -> list[tuple[str, Entry]]:
    """Put entries into the database, in one step, and write their calculators; all of them, or none."""
    # one lock over naming, generating and saving: two processes cannot take the same key for two classes
    with locked(workspace.generated_folder):
        drop_unfinished(workspace.generated_folder / "*.py")
        database = known = workspace.load()
        stored: dict[str, Entry] = {}
        before: dict[Path, bytes | None] = {}
        try:
            for entry in entries:
                key, named = _placed(entry, database, known)
                _write(named, workspace, before, force)
                stored[key] = named
                known = known.with_entries({key: named})
            others = freed(stored, database)
            for named in (one for one in others.values() if one.regimes):
                _write(named, workspace, before, force)
            workspace.save({**others, **stored}, rules_version=rules_version)
        except BaseException:
            for path, text in before.items():
                _restore(path, text)
            raise
    return list(stored.items())


def _write(entry: Entry, workspace: Workspace, before: dict[Path, bytes | None], force: bool) -> None:
    """Write the calculator of an entry, and remember in `before` what stood there."""
    path = workspace.generated_folder / entry.generated_file_name
    before.setdefault(path, path.read_bytes() if path.is_file() else None)
    if entry.regimes:
        generate.write(entry, workspace.generated_folder, force=force)


def _placed(entry: Entry, database: Database, known: Database) -> tuple[str, Entry]:
    """The key of an entry and the entry with its generated names and what a person validated of it.

    `known` is the database with the entries that are stored together with this one.
    """
    key = known.key_for(entry.library, entry.full_class_name)
    entry = _named(key, entry, known)
    if key in database.own:
        entry = _with_human_validation(entry, database[key] if _is_valid(database, key) else None)
    return key, entry


def write_diagnostics(key: str, content: Mapping[str, JsonValue], workspace: Workspace) -> Path:
    """Write what refuted a formula beside the database, for a person to look into."""
    path = workspace.root / DIAGNOSTICS_NAME / f"{key}_diagnostics.json"
    write_atomically(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    return path


def remove_diagnostics(key: str, workspace: Workspace) -> None:
    """Take away what an earlier analysis wrote of this class."""
    with contextlib.suppress(OSError):
        (workspace.root / DIAGNOSTICS_NAME / f"{key}_diagnostics.json").unlink(missing_ok=True)


def same_formulas(left: Entry, right: Entry) -> bool:
    """Whether two entries state the same formulas, letter by letter."""
    return _formulas(left) == _formulas(right)


def _formulas(entry: Entry) -> list[tuple[str, ...]]:
    return [(r.name, *(r.formula(q) for q in QUANTITIES)) for r in entry.regimes]


def _named(key: str, entry: Entry, database: Database) -> Entry:
    """The entry with its generated names; only where its file's name is taken are all entries looked at."""
    named = generate.with_generated_names(key, entry, {})
    taken = (database.head(other).generated_file_name for other in database if other != key)
    return (
        generate.with_generated_names(key, entry, database) if named.generated_file_name in taken else named
    )


def _with_human_validation(entry: Entry, previous: Entry | None) -> Entry:
    """What a person validated stays validated as long as the formulas are the same."""
    if previous is None or not previous.validation.human_validated or not same_formulas(previous, entry):
        return entry
    validation = entry.validation.model_copy(update={"human_validated": True})
    return entry.model_copy(update={"validation": validation})


def _is_valid(database: Database, key: str) -> bool:
    """Whether the present entry can be read; a damaged one is replaced."""
    with contextlib.suppress(Exception):
        return bool(database[key])
    return False


def _restore(path: Path, before: bytes | None) -> None:
    with contextlib.suppress(OSError):
        if before is None:
            path.unlink(missing_ok=True)
        else:
            write_atomically(path, before)

"""New texts of several files in; on the disk either all of them or none, whenever the process is killed.

The new files are written beside the old ones; from the moment at which a note says what replaces what, all
of it holds. Whoever comes after a process that was killed finishes what the note says.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import cast

from forwardbook.workspace.storage import WorkspaceError, check_replaceable, resolved, write_atomically


def replace_together(main: Path, texts: Mapping[Path, str | None]) -> None:
    """Replace files by new ones, or for None remove them; to be called under the lock of `main`.

    They are `main` and files of the folder of its name, none of them a link.

    Raises:
        WorkspaceError: where one cannot be written; then nothing was changed.
    """
    main = resolved(main)
    staged: list[Path] = []
    try:
        for path, text in texts.items():
            check_replaceable(path)
            if text is not None:
                write_atomically(_staged(path), text)
                staged.append(_staged(path))
                if path.exists():
                    _staged(path).chmod(path.stat().st_mode & 0o777)
        _settle(texts)
        said = {path.relative_to(main.parent).as_posix(): text is None for path, text in texts.items()}
        write_atomically(_note(main), json.dumps(said))
    except BaseException:
        for path in staged:
            path.unlink(missing_ok=True)
        raise
    _settle([main])
    finish(main)


def is_unfinished(main: Path) -> bool:
    """Whether a process is replacing files, or was killed while it did."""
    return _note(resolved(main)).exists()


def finish(main: Path) -> None:
    """Do what the note says that is not done yet; to be called under the lock of `main`.

    Raises:
        WorkspaceError: where a file cannot be replaced; the note stays.
    """
    main = resolved(main)
    note = _note(main)
    try:
        found = cast("dict[str, bool]", json.loads(note.read_text(encoding="utf-8")))
        if not isinstance(found, dict):
            raise ValueError(f"it holds no names of files; remove {note}")
        for name in found:
            path = main.parent / name
            inside = path.parent.resolve() == main.with_suffix("") and path.suffix == ".json"
            if not inside and path != main:
                raise ValueError(f"{name!r} is no file of the database; remove {note}")
        for name, is_gone in found.items():
            path = main.parent / name
            if is_gone:
                path.unlink(missing_ok=True)
            elif _staged(path).exists():
                path.parent.mkdir(exist_ok=True)
                os.replace(_staged(path), path)
        _settle(main.parent / name for name in found)
        note.unlink()
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        raise WorkspaceError(
            f"finishing what another process began to write into {main.parent}: {error}; "
            "make the folder writable and run again"
        ) from error


def drop_staged(main: Path) -> None:
    """Take away what a killed process was writing; to be called under the lock of `main`, with no note."""
    main = resolved(main)
    ours, inside = (main.parent, main.name), (main.with_suffix(""), "*.json")
    found = [path for folder, name in (ours, inside) for path in folder.glob(f".{name}.new")]
    found += [path for folder, name in (ours, inside) for path in folder.glob(f".{name}.????????.tmp")]
    found += [path for folder, name in (ours, inside) for path in folder.glob(f"..{name}.*.????????.tmp")]
    for path in found:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)


def _staged(path: Path) -> Path:
    return path.with_name(f".{path.name}.new")


def _note(main: Path) -> Path:
    return main.with_name(f".{main.name}.note")


def _settle(paths: Iterable[Path]) -> None:
    """Let the names in the folders of these files be on the disk before anything that follows."""
    for folder in {path.parent for path in paths}:
        if os.name == "posix" and folder.is_dir():
            descriptor = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

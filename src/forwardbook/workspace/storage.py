"""Files on disk: text in, a file that is either the old one or the whole new one out."""

from __future__ import annotations

import contextlib
import fcntl
import functools
import os
import re
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from forwardbook.errors import ForwardbookError

LOCK_SECONDS: Final = 60.0
_UNFINISHED: Final = re.compile(r"\.(.+)\.[a-z0-9_]{8}\.tmp")


class WorkspaceError(ForwardbookError):
    """A file of the workspace could not be read or written."""


def resolved(path: Path) -> Path:
    """The path that links lead to.

    Raises:
        WorkspaceError: where they lead in a circle.
    """
    try:
        return path.resolve()
    except (OSError, RuntimeError):  # RuntimeError up to Python 3.12
        raise WorkspaceError(f"following {path}: its links lead in a circle; remove them") from None


@contextmanager
def locked(path: Path, seconds: float = LOCK_SECONDS) -> Iterator[None]:
    """Hold the lock of a file, so that of all processes that read, merge and write it only one is at work."""
    from filelock import FileLock, Timeout  # it loads sockets, and most commands lock nothing

    path = resolved(path)
    lock = FileLock(path.with_name(f".{path.name}.lock"))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=seconds)
    except Timeout:
        raise WorkspaceError(
            f"writing {path}: another process has held its lock for {seconds:g} s; "
            f"wait for it, or if none is running remove {lock.lock_file}"
        ) from None
    except OSError as error:
        raise _unwritable(path, error) from error
    try:
        yield
    finally:
        lock.release()


@contextmanager
def alone(lock: Path, doing: str) -> Iterator[None]:
    """Inside, no other process does the same under this lock.

    Raises:
        WorkspaceError: where one does.
    """
    from filelock import FileLock, Timeout

    held = FileLock(lock)
    try:
        held.acquire(timeout=0)
    except Timeout:
        raise WorkspaceError(f"{doing}: another process is at it; wait until it is done") from None
    try:
        yield
    finally:
        held.release()


def write_atomically(path: Path, text: str | bytes) -> None:
    """Replace a file by a whole new one; whatever goes wrong on the way, the old one stays as it was."""
    path = resolved(path)  # a link stays a link: what it leads to is replaced
    check_replaceable(path)
    temporary: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.name in _left_in(path.parent):
            drop_unfinished(path)
        descriptor, temporary = _begun(path)
        with open(descriptor, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o644)
        os.replace(temporary, path)
        temporary = None
    except OSError as error:
        raise _unwritable(path, error) from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def drop_unfinished(path: Path) -> None:
    """Take away what killed processes were writing to a file; the name may be a pattern, such as `*.py`.

    What a process still writes is left to it: it holds a lock on that.
    """
    for temporary in path.parent.resolve().glob(f".{path.name}.????????.tmp"):
        with contextlib.suppress(OSError), temporary.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            temporary.unlink(missing_ok=True)


@functools.cache
def _left_in(folder: Path) -> frozenset[str]:
    """The names of files that were being written in a folder when this process came to write there."""
    found = (_UNFINISHED.fullmatch(name) for name in os.listdir(folder))
    return frozenset(match[1] for match in found if match)


def _begun(path: Path) -> tuple[int, Path]:
    """A new file beside a path, open and locked, which `drop_unfinished` of no process takes away."""
    while True:
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
        with contextlib.suppress(OSError):  # a file system without locks, or somebody took it first
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(descriptor).st_nlink:
            return descriptor, Path(name)
        os.close(descriptor)


def check_replaceable(path: Path) -> None:
    """Refuse to replace a file that somebody made read-only.

    Raises:
        WorkspaceError: for such a file.
    """
    if path.exists() and not path.stat().st_mode & stat.S_IWUSR:
        raise WorkspaceError(
            f"writing {path}: the file is read-only; nothing was changed. Allow writing: chmod u+w"
        )


def _unwritable(path: Path, error: OSError) -> WorkspaceError:
    return WorkspaceError(
        f"writing {path}: {error.strerror or error}; nothing was changed. "
        "Make the folder writable, or run in a folder of your own"
    )

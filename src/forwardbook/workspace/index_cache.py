"""The facts of files kept between runs in the user's cache folder: rows of JSON, one database a root."""

from __future__ import annotations

import hashlib
import os
import platform
import sqlite3
import time
import zlib
from collections.abc import Iterable
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from forwardbook.analyzers.index.codec import fingerprint

_RACY: Final = (
    2 * 10**9
)  # a file changed this shortly before it was read may change again within one clock tick
WAIT_SECONDS: Final = 5.0  # for another run that writes
_TABLES: Final = """
    CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT);
    CREATE TABLE IF NOT EXISTS files (
        path TEXT PRIMARY KEY, size INTEGER, modified INTEGER, changed INTEGER, read INTEGER,
        digest TEXT, module TEXT, facts BLOB
    );
"""


@dataclass(frozen=True, slots=True)
class Row:
    """What is kept of one file: the marks it had when it was read, its digest, and its facts, compressed."""

    path: str
    size: int
    modified: int
    changed: int
    read: int  # when, in nanoseconds
    digest: str
    module: str
    facts: bytes

    def unchanged(self, size: int, modified: int, changed: int) -> bool:
        """Whether a file with these marks is surely the one that was read."""
        settled = max(modified, changed) + _RACY < self.read
        return settled and (size, modified, changed) == (self.size, self.modified, self.changed)


def compressed(text: str) -> bytes:
    """The text of a row as it is kept."""
    return zlib.compress(text.encode(), 1)


def text_of(facts: bytes) -> str:
    """The text of a row that was kept; `zlib.error` where it is damaged."""
    return zlib.decompress(facts).decode()


class IndexCache:
    """The rows kept for one root. A cache that cannot be read or written is as good as an empty one."""

    def __init__(self, root: Path, folder: Path | None = None) -> None:
        self.path = (folder or cache_folder()) / "index" / f"{cache_name(root)}.sqlite"

    def rows(self) -> dict[str, Row]:
        """Every row by the path of its file; none where other code or facts of another shape made them."""
        if not self.path.is_file():
            return {}
        try:
            with closing(self._open()) as database:
                if database.execute("SELECT value FROM meta WHERE key = 'maker'").fetchone() != (maker(),):
                    return {}
                found = database.execute(
                    "SELECT path, size, modified, changed, read, digest, module, facts FROM files"
                )
                return {row[0]: Row(*row) for row in found}
        except sqlite3.OperationalError:
            return {}  # locked by another run, or without tables
        except sqlite3.Error:
            self._discard()
            return {}

    def update(self, rows: Iterable[Row], gone: Iterable[str], fresh: bool) -> None:
        """Keep rows and forget those of files that are gone; `fresh` forgets everything older."""
        with suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            try:
                with closing(self._open()) as database, database:
                    database.executescript(_TABLES)
                    if fresh:
                        database.execute("DELETE FROM files")
                    database.execute("INSERT OR REPLACE INTO meta VALUES ('maker', ?)", (maker(),))
                    database.executemany("DELETE FROM files WHERE path = ?", [(path,) for path in gone])
                    database.executemany(
                        "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                        [
                            (r.path, r.size, r.modified, r.changed, r.read, r.digest, r.module, r.facts)
                            for r in rows
                        ],
                    )
            except sqlite3.OperationalError:
                return  # locked by another run, or a full or read-only disk
            except sqlite3.DatabaseError:
                self._discard()

    def _open(self) -> sqlite3.Connection:
        database = sqlite3.connect(self.path, timeout=WAIT_SECONDS)
        database.execute("PRAGMA synchronous = OFF")  # what a crash loses is read again
        return database

    def _discard(self) -> None:
        with suppress(OSError):
            self.path.unlink(missing_ok=True)


def cache_folder() -> Path:
    """The user's folder for what can be made again."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(given) if os.path.isabs(given) else Path.home() / ".cache") / "forwardbook"


def cache_name(root: Path) -> str:
    """The name under which what belongs to a root is kept."""
    return hashlib.sha256(os.fsencode(root)).hexdigest()[:24]


def maker() -> str:
    """What made the rows: the shape of the facts, the code that finds them, the Python that parses."""
    import forwardbook.analyzers as analyzers

    digest = hashlib.sha256(fingerprint().encode())
    digest.update(platform.python_version().encode())
    for room in ("index", "native"):
        folder = Path(analyzers.__path__[0]) / room
        for source in sorted(folder.glob("*.py")):
            digest.update(source.read_bytes())
    return digest.hexdigest()


def now() -> int:
    """The time, in nanoseconds, on the clock that files are stamped with."""
    return time.time_ns()

"""What was derived, kept on disk under its fingerprint until it is stored: text in, the same text out later.

The folder `.forwardbook` of a workspace holds nothing that cannot be made again; git does not look into it.
"""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from forwardbook.workspace.storage import WorkspaceError, alone, write_atomically

FOLDER: Final = ".forwardbook"
OLD_DAYS: Final = 30
_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,120}")


@dataclass(frozen=True, slots=True)
class KeptOutcomes:
    """The outcomes and the plan of a workspace's regeneration."""

    root: Path

    @property
    def folder(self) -> Path:
        """Where they are."""
        return self.root / FOLDER

    def get(self, name: str) -> str | None:
        """The text kept under a name; None where there is none or it cannot be read."""
        try:
            return self._path(name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return None

    def keep(self, name: str, text: str) -> None:
        """Keep a text under a name, whole or not at all."""
        self._prepare()
        write_atomically(self._path(name), text)

    def drop(self, name: str) -> None:
        """Forget what is kept under a name."""
        with contextlib.suppress(OSError):
            self._path(name).unlink()

    def drop_old(self, days: float = OLD_DAYS) -> None:
        """Forget what nobody stored for long, and what a killed process left half written."""
        until = time.time() - days * 86400
        for path in (self.folder / "derived").glob("*") if self.folder.is_dir() else ():
            with contextlib.suppress(OSError):
                if path.stat().st_mtime < until:
                    path.unlink()

    def plan(self) -> dict[str, object] | None:
        """The plan of a regeneration that was not finished; None where there is none."""
        try:
            plan = json.loads((self.folder / "plan.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return plan if isinstance(plan, dict) else None

    def keep_plan(self, plan: Mapping[str, object]) -> None:
        """Put the plan down."""
        self._prepare()
        write_atomically(self.folder / "plan.json", json.dumps(plan, ensure_ascii=False))

    def finish(self) -> None:
        """The plan is done: forget it and all that was kept for it."""
        with contextlib.suppress(OSError):
            (self.folder / "plan.json").unlink()
        shutil.rmtree(self.folder / "derived", ignore_errors=True)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Inside, no other process regenerates this workspace.

        Raises:
            WorkspaceError: where one does.
        """
        self._prepare()
        with alone(self.folder / "regenerate.lock", f"regenerating {self.root}"):
            yield

    def _prepare(self) -> None:
        """The folder, which git is told to leave alone."""
        ignore = self.folder / ".gitignore"
        if not ignore.is_file():
            write_atomically(ignore, "*\n")

    def _path(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise WorkspaceError(f"keeping {name!r}: it is no name for a file")
        return self.folder / "derived" / f"{name}.json"


def remove_leftovers(*folders: Path) -> None:
    """Files that a killed process was still writing; to be called under the lock of what is written there."""
    for folder in folders:
        for path in folder.glob(".*.tmp"):
            if re.fullmatch(r"\.(?:module_db\.json|\w+\.py|[\w.-]+\.json)\.[A-Za-z0-9_]{8}\.tmp", path.name):
                with contextlib.suppress(OSError):
                    path.unlink()

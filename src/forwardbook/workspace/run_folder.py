"""A folder for one run: made by it alone, marked from its first moment with how far it came."""

from __future__ import annotations

import json
import os
import secrets
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from forwardbook.errors import ForwardbookError
from forwardbook.workspace.storage import write_atomically

MARK: Final = "run.json"
RUN_VERSION: Final = 1


@dataclass
class RunFolder:
    """The folder, what has been done in it, and what remains."""

    path: Path
    command: str
    steps: list[str] = field(default_factory=list)
    started: str = ""

    def step(self, name: str) -> None:
        """From now on this is being done."""
        self.steps.append(name)
        self.mark("running")

    def mark(self, status: str, reason: str = "") -> None:
        """Says how the run stands."""
        values = {
            "run_version": RUN_VERSION,
            "status": status,
            "command": self.command,
            "started": self.started,
            "last": self.steps[-1] if self.steps else None,
            "steps": self.steps,
            "reason": reason,
        }
        write_atomically(self.path / MARK, json.dumps(values, indent=1) + "\n")

    def write(self, name: str, text: str) -> Path:
        """A file of the run, whole or not at all."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, text)
        return path


@contextmanager
def run_folder(root: Path, command: str, name: str = "") -> Iterator[RunFolder]:
    """Inside, a new folder that no other run has; whatever ends the block is written into its mark.

    Raises:
        ForwardbookError: for a name that a run already has, or a root that cannot be written.
    """
    now = datetime.now(UTC)
    run_id = name or f"{now:%Y%m%d-%H%M%S}-{os.getpid()}-{secrets.token_hex(3)}"
    path = root / run_id
    try:
        root.mkdir(parents=True, exist_ok=True)
        path.mkdir()
    except FileExistsError as error:
        raise ForwardbookError(f"making {path}: a run of that name exists; give another --run-id") from error
    except OSError as error:
        raise ForwardbookError(f"making {path}: {error}") from error
    with _marked(RunFolder(path, command, started=now.isoformat(timespec="seconds"))) as folder:
        yield folder


@contextmanager
def resumed_folder(path: Path) -> Iterator[RunFolder]:
    """Inside, the folder of a run that came to an end before, marked as any other run.

    Raises:
        ForwardbookError: for a folder that no run made, or that a newer version did.
    """
    doing = f"resuming {path}"
    try:
        values = json.loads((path / MARK).read_text(encoding="utf-8"))
        version = values["run_version"]
        known = RunFolder(path, str(values["command"]), list(values["steps"]), str(values["started"]))
    except FileNotFoundError:
        raise ForwardbookError(f"{doing}: there is no {MARK}; give the folder of a run") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ForwardbookError(f"{doing}: {MARK} cannot be read: {type(error).__name__}: {error}") from None
    if version != RUN_VERSION:
        raise ForwardbookError(f"{doing}: it was written by another version (run_version {version})")
    with _marked(known) as folder:
        yield folder


@contextmanager
def _marked(folder: RunFolder) -> Iterator[RunFolder]:
    folder.mark("running")
    try:
        yield folder
    except KeyboardInterrupt:
        folder.mark("interrupted", "stopped by the user")
        raise
    except BaseException as error:
        told = f"{type(error).__name__}: {error}"
        folder.mark("failed", told)
        if not isinstance(error, ForwardbookError):
            folder.write("error.txt", "".join(traceback.format_exception_only(error)))
        raise
    folder.mark("complete")

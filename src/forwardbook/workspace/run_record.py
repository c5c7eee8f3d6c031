"""A record of a run over sources: their state and the digests of the pages written, kept for next time."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import cast

from forwardbook.workspace.index_cache import cache_folder
from forwardbook.workspace.storage import WorkspaceError, write_atomically


@dataclass(frozen=True, slots=True)
class RunRecord:
    """`stamp` is the state of the files as their folder tells it, `content` that of their bytes.

    `seen` holds (modified, size) of each page that was written or found up to date in this state, so that
    a page which nobody touched is not read again; `told` holds its figures, `left_out` what it does not
    state.
    """

    stamp: str = ""
    content: str = ""
    is_complete: bool = False
    seen: dict[str, tuple[int, int]] = field(default_factory=dict)
    told: dict[str, str] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    left_out: dict[str, tuple[str, ...]] = field(default_factory=dict)


def load_record(subject: str) -> RunRecord:
    """The record of the last run over a subject; an empty one where there is none or it cannot be read."""
    try:
        raw = json.loads(_path(subject).read_text(encoding="utf-8"))
        seen = cast("dict[str, list[int]]", raw["seen"])
        return RunRecord(
            str(raw["stamp"]),
            str(raw["content"]),
            bool(raw["is_complete"]),
            {name: (int(modified), int(size)) for name, (modified, size) in seen.items()},
            {str(name): str(text) for name, text in raw["told"].items()},
            tuple(str(text) for text in raw["problems"]),
            {str(name): tuple(map(str, lines)) for name, lines in raw["left_out"].items()},
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return RunRecord()


def save_record(subject: str, record: RunRecord) -> bool:
    """Keep a record; whether that was possible (a cache that cannot be written only costs time)."""
    try:
        write_atomically(_path(subject), json.dumps(asdict(record), ensure_ascii=False))
    except (WorkspaceError, OSError):
        return False
    return True


def _path(subject: str) -> Path:
    return cache_folder() / "runs" / f"{hashlib.sha256(subject.encode()).hexdigest()[:32]}.json"

"""Small answers kept between runs in the user's cache folder: a line of JSON each, appended as it comes."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from forwardbook.workspace.index_cache import cache_folder

LARGEST: Final = 8 << 20
"""A file that has grown beyond this is begun anew."""


class KeptLines:
    """Answers by key, kept under a name. What cannot be read or written is as good as not there."""

    def __init__(self, name: str, folder: Path | None = None) -> None:
        self.path = (folder or cache_folder()) / "kept" / f"{name}.jsonl"
        self.values: dict[str, object] = {}
        with suppress(OSError, UnicodeDecodeError):
            if self.path.stat().st_size > LARGEST:
                self.path.unlink()
            for line in self.path.read_text(encoding="utf-8").splitlines():
                self._take(line)

    def _take(self, line: str) -> None:
        with suppress(ValueError):  # a line that was cut off, or written by two at once
            value = json.loads(line)
            if isinstance(value, list) and len(value) == 2 and isinstance(value[0], str):
                self.values[value[0]] = value[1]

    def keep(self, key: str, value: object) -> None:
        """Take an answer up, and down into the file; several processes may do so at once."""
        if self.values.get(key) == value:
            return
        self.values[key] = value
        line = json.dumps([key, value], ensure_ascii=True) + "\n"
        with suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                os.write(file, line.encode())
            finally:
                os.close(file)

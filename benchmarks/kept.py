"""Subjects of a long benchmark in; what an earlier run found for them, so that it goes on from there, out."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measuring import ROOT

FOLDER = ROOT / "build" / "benchmarks"
Outcome = dict[str, object]


@dataclass(frozen=True)
class Kept:
    """Outcomes in build/benchmarks/NAME/, one file per subject; without `resume` none is taken from there."""

    name: str
    resume: bool
    folder: Path = FOLDER

    def get(self, subject: str, conditions: Mapping[str, object]) -> Outcome | None:
        """The outcome under exactly these conditions, None if there is none."""
        file = self._file(subject)
        if not self.resume or not file.is_file():
            return None
        found: Outcome = json.loads(file.read_text(encoding="utf-8"))
        outcome = found["outcome"]
        same = found["conditions"] == json.loads(json.dumps(conditions))
        return outcome if same and isinstance(outcome, dict) else None

    def put(self, subject: str, conditions: Mapping[str, object], outcome: Outcome) -> None:
        """Keeps an outcome; a file is there whole or not at all."""
        file = self._file(subject)
        file.parent.mkdir(parents=True, exist_ok=True)
        new = file.with_suffix(".new")
        new.write_text(json.dumps({"conditions": conditions, "outcome": outcome}), encoding="utf-8")
        new.replace(file)

    def _file(self, subject: str) -> Path:
        return self.folder / self.name / f"{re.sub('[^a-z0-9.]+', '-', subject.lower())}.json"


def digest(files: Iterable[Path]) -> str:
    """One SHA-256 over the contents of files, in the order of their paths."""
    found = hashlib.sha256()
    for file in sorted(files):
        found.update(file.name.encode() + b"\0" + file.read_bytes())
    return found.hexdigest()

"""An entry in; the lines of its class as they stand in the installed source out, none where they differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from forwardbook.schema import Entry

LARGEST = 1200
"""Lines of a class up to which its whole source is shown."""


@dataclass
class Sources:
    """Source files of installed packages and of a workspace; nothing is imported."""

    root: Path
    _texts: dict[Path, list[str]] = field(default_factory=dict)

    def path(self, full_class_name: str, file: str) -> Path | None:
        """The file of a class: in the workspace, under its `src`, or where its package is installed."""
        folders = [self.root, self.root / "src", *_package_folders(full_class_name.partition(".")[0])]
        return next((folder / file for folder in folders if file and (folder / file).is_file()), None)

    def stamp(self, full_class_name: str, file: str) -> str:
        """What changes when the file does."""
        path = self.path(full_class_name, file)
        if path is None:
            return ""
        status = path.stat()
        return f"{status.st_size} {status.st_mtime_ns}"

    def lines(self, entry: Entry) -> Mapping[int, str]:
        """The lines of the class by number, empty where they are not those that were analysed."""
        place = entry.code_location
        path = self.path(entry.full_class_name, place.file)
        if path is None or place.line_end - place.line_start > LARGEST:
            return {}
        text = self._text(path)
        found = dict(enumerate(text[place.line_start - 1 : place.line_end], place.line_start))
        return found if _agree(entry, found) else {}

    def _text(self, path: Path) -> list[str]:
        if path not in self._texts:
            try:
                self._texts[path] = path.read_text(encoding="utf-8").splitlines()
            except (OSError, UnicodeDecodeError):
                self._texts[path] = []
        return self._texts[path]


def _agree(entry: Entry, found: Mapping[int, str]) -> bool:
    """Whether the class begins where the entry says, and each line with a cost begins as the entry has it."""
    head = f"class {entry.class_name}"
    if not any(head in line for line in list(found.values())[:12]):
        return False
    lines = [line for regime in entry.regimes for line in regime.flop_analysis.lines]
    return all(_begins(line.code, found[line.line]) for line in lines if line.line in found)


def _begins(code: str, line: str) -> bool:
    word = code.split(maxsplit=1)[0][:4] if code.strip() else ""
    return line.strip().startswith(word)


@lru_cache(maxsize=64)
def _package_folders(package: str) -> tuple[Path, ...]:
    """The folders that hold a package, found without importing it."""
    try:
        spec = find_spec(package) if package.isidentifier() else None
    except (ImportError, ValueError):
        return ()
    if spec is None:
        return ()
    if spec.submodule_search_locations:
        return tuple(Path(each).parent for each in spec.submodule_search_locations)
    return (Path(spec.origin).parent,) if spec.origin else ()

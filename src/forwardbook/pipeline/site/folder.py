"""Texts by name in, files of the folder docs/book out: what changed is written, what is gone is removed.

The folder is all ours. A file in it that was not written by us, or was edited since, stops the writing of the
site before anything is changed.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from forwardbook.book.page import is_untouched
from forwardbook.workspace import WorkspaceError, write_atomically

MANIFEST: Final = ".manifest.json"
_IGNORED: Final = ".gitignore"


@dataclass
class SiteFolder:
    """What stands in the folder, by name relative to it: what each file was made from, and its digest."""

    path: Path
    made_from: dict[str, str] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)
    kept: set[str] = field(default_factory=set)
    written: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)

    @classmethod
    def open(cls, path: Path) -> SiteFolder:
        """The folder with its manifest; a new one is made.

        Raises:
            WorkspaceError: where the folder holds files but no manifest of ours.
        """
        file = path / MANIFEST
        if file.is_file():
            try:
                content = json.loads(file.read_text(encoding="utf-8"))
                return cls(path, dict(content["made_from"]), dict(content["digests"]))
            except (ValueError, KeyError, TypeError, OSError) as error:
                raise WorkspaceError(
                    f"preparing the site: {file} cannot be read ({error}); remove the folder {path}, all of "
                    "which is generated, and build again"
                ) from error
        if path.is_dir() and any(path.iterdir()):
            raise WorkspaceError(
                f"preparing the site: {path} holds files and was not made by forwardbook; nothing was "
                "changed. Move it away: the pages of the site are written there"
            )
        folder = cls(path)
        folder.save()  # from here on the folder is known to be ours, whatever happens
        return folder

    def is_current(self, name: str, made_from: str) -> bool:
        """Whether the file was made from the same, and stands there; it then stays."""
        if self.made_from.get(name) != made_from or not (self.path / name).is_file():
            return False
        self.kept.add(name)
        return True

    def put(self, name: str, content: str | bytes, made_from: str = "") -> None:
        """Write the file unless it stands there already.

        Raises:
            WorkspaceError: where someone edited it.
        """
        data = content.encode() if isinstance(content, str) else content
        digest = hashlib.sha256(data).hexdigest()
        path = self.path / name
        present = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None
        if present not in (None, digest) and not self._is_ours(name, present):
            raise WorkspaceError(
                f"preparing the site: {path} was edited by hand, and is generated; nothing was changed in "
                "it. Change what it is made from, and remove the file"
            )
        if present != digest:
            write_atomically(path, data)
            self.written.append(name)
        self.kept.add(name)
        self.made_from[name], self.digests[name] = made_from, digest

    def _is_ours(self, name: str, present: str | None) -> bool:
        """Whether the file is as we wrote it; after an interruption a page tells by its own checksum."""
        if name in self.digests:
            return present == self.digests[name] or bool(self._untouched(name))
        return bool(self._untouched(name)) if name.endswith(".md") else name.startswith("assets/")

    def _untouched(self, name: str) -> bool | None:
        if not name.endswith(".md"):
            return None
        return is_untouched((self.path / name).read_text(encoding="utf-8", errors="replace"))

    def close(self) -> None:
        """Remove what nothing was put for this time, unless someone edited it, and write the manifest."""
        for name in sorted(self.digests.keys() - self.kept):
            path = self.path / name
            if path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == self.digests[name]:
                path.unlink()
                self.removed.append(name)
            del self.digests[name]
            self.made_from.pop(name, None)
        self.save()

    def save(self) -> None:
        """Write the manifest, which is what lets a next time go on from here."""
        content = {"made_from": self.made_from, "digests": self.digests}
        text = json.dumps(content, indent=0, sort_keys=True) + "\n"
        file = self.path / MANIFEST
        if not file.is_file() or file.read_text(encoding="utf-8") != text:
            write_atomically(file, text)
        if not (self.path / _IGNORED).is_file():
            write_atomically(self.path / _IGNORED, "*\n")

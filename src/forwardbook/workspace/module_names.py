"""A tree of source files in, the dotted name by which Python imports each of them out."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from forwardbook.workspace.source_tree import SourceTree

_SOURCE_FOLDERS: Final = ("src", "lib", "python")


class ModuleNames:
    """Gives the dotted import name of any file of a tree.

    A package's name begins at its outermost folder with an `__init__.py`, which may lie above the root. A
    file in no package is named from the nearest folder with a project file (or that one's `src`).
    """

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree
        self._above = _package_above(tree.root) if "" in tree.packages else ""

    def of(self, path: str) -> str:
        """The dotted name of a file, such as `package.module`; that of a package for its `__init__.py`."""
        folder, _, name = path.rpartition("/")
        stem = name.rpartition(".")[0]
        parts = self._folder(folder).split(".") if self._folder(folder) else []
        if stem != "__init__":
            parts.append(stem)
        return ".".join(parts)

    def _folder(self, folder: str) -> str:
        """The dotted name of a folder, empty for one from which modules are imported directly."""
        for target, link in self._tree.links.items():
            parent = link.rpartition("/")[0]
            if (folder == target or folder.startswith(target + "/")) and parent in self._tree.packages:
                return (
                    self._package(parent)
                    + "."
                    + (link.rpartition("/")[2] + folder[len(target) :]).replace("/", ".")
                )
        return self._package(folder) if folder in self._tree.packages else self._outside(folder)

    def _package(self, folder: str) -> str:
        names: list[str] = []
        while folder and folder in self._tree.packages:
            folder, _, name = folder.rpartition("/")
            names.append(name)
        if not folder and self._above:
            names.append(self._above)
        return ".".join(reversed(names))

    def _outside(self, folder: str) -> str:
        start = folder
        while start and start not in self._tree.projects:
            start = start.rpartition("/")[0]
        inside = folder[len(start) :].strip("/")
        first, _, rest = inside.partition("/")
        return (rest if first in _SOURCE_FOLDERS else inside).replace("/", ".")


def _package_above(root: Path) -> str:
    """The dotted name of the root itself, where it lies in packages that reach above it."""
    names: list[str] = []
    while root.name and (root / "__init__.py").is_file():
        names.append(root.name)
        root = root.parent
    return ".".join(reversed(names))

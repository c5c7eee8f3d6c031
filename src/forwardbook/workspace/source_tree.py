"""A folder in, the source files under it out: no link is followed, nothing is run."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Final

from forwardbook.analyzers.index.one_file import language_of
from forwardbook.workspace.storage import WorkspaceError

LARGEST: Final = 16 * 2**20  # bytes; nobody writes such a file by hand
_MACHINERY: Final = frozenset(
    {".git", ".hg", ".svn", ".bzr", ".jj", "__pycache__", "node_modules", ".tox", ".nox", ".mypy_cache"}
    | {
        ".ruff_cache",
        ".pytest_cache",
        ".hypothesis",
        ".ipynb_checkpoints",
        ".eggs",
        ".cache",
        ".idea",
        ".vscode",
    }
)
_PROJECT: Final = frozenset({"pyproject.toml", "setup.py", "setup.cfg"})
_BUILT: Final = frozenset({"build", "dist", "_build", "_skbuild"})


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file of a tree: its path relative to the root and the marks by which a change shows."""

    path: str
    size: int
    modified: int  # nanoseconds
    changed: int  # nanoseconds, of the inode: also moves when the modification time is set back


@dataclass(slots=True)
class SourceTree:
    """The source files under a root, what was left out and why, and which folders are packages."""

    root: Path
    files: list[SourceFile] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    packages: set[str] = field(default_factory=set)  # folders with an `__init__.py`, `` for the root
    projects: set[str] = field(default_factory=set)  # folders with a project file
    links: dict[str, str] = field(default_factory=dict)  # folder inside the root -> the link that leads to it
    folders: frozenset[str] | None = None  # the only ones that were looked into, None for all

    def looked_into(self, path: str) -> bool:
        """Whether the folder of a file was among those looked into."""
        return self.folders is None or path.rpartition("/")[0] in self.folders

    def read(self, path: str) -> bytes:
        """The bytes of a file of the tree."""
        try:
            with open(self.root / path, "rb") as file:
                return file.read(LARGEST + 1)
        except OSError as error:
            raise WorkspaceError(f"reading {path} under {self.root}: {error.strerror or error}") from error


def source_tree(root: Path, folders: Collection[str] | None = None) -> SourceTree:
    """Every source file under a folder, in the order of the paths; given `folders`, those right in them."""
    try:
        tree = SourceTree(root.resolve(strict=True))
        os.scandir(tree.root).close()
    except (OSError, RuntimeError) as error:
        raise WorkspaceError(
            f"reading the folder {root}: {getattr(error, 'strerror', None) or error}. "
            "Name a folder that exists and can be read"
        ) from error
    pending = [""] if folders is None else list(folders)
    if folders is not None:
        tree.folders = frozenset(folders)
        _above(tree)
    while pending:
        inner = _folder(tree, pending.pop())
        if folders is None:
            pending.extend(inner)
    tree.files.sort(key=lambda file: file.path)
    tree.skipped.sort()
    return tree


def _above(tree: SourceTree) -> None:
    """Note which folders above those looked into are packages and projects, for the names of modules."""
    above = {parent.as_posix() for folder in tree.folders or () for parent in PurePosixPath(folder).parents}
    for folder in ("" if parent == "." else parent for parent in above):
        if (tree.root / folder / "__init__.py").is_file():
            tree.packages.add(folder)
        if any((tree.root / folder / name).is_file() for name in _PROJECT):
            tree.projects.add(folder)


def _folder(tree: SourceTree, folder: str) -> list[str]:
    """Take in one folder's files; its folders to go on with."""
    try:
        with os.scandir(tree.root / folder) as entries:
            found = list(entries)
    except OSError as error:
        tree.skipped.append((_shown(folder) + "/", f"unreadable: {error.strerror or error}"))
        return []
    names = {entry.name for entry in found}
    if "pyvenv.cfg" in names and folder:
        tree.skipped.append((_shown(folder) + "/", "a virtual environment"))
        return []
    if "__init__.py" in names or "__init__.pyi" in names:
        tree.packages.add(folder)
    elif folder.rpartition("/")[2] in _BUILT:
        tree.skipped.append((folder + "/", "build output"))
        return []
    if not names.isdisjoint(_PROJECT):
        tree.projects.add(folder)
    inner = []
    for entry in found:
        path = f"{folder}/{entry.name}" if folder else entry.name
        try:
            if entry.is_symlink():
                _link(tree, path)
            elif entry.is_dir(follow_symlinks=False):
                if entry.name not in _MACHINERY and not entry.name.endswith(".egg-info"):
                    inner.append(path)
            else:
                _file(tree, path, entry.stat(follow_symlinks=False))
        except OSError as error:
            tree.skipped.append((_shown(path), f"unreadable: {error.strerror or error}"))
    return inner


def _file(tree: SourceTree, path: str, status: os.stat_result) -> None:
    """Take in a file whose language is known, or say why not."""
    if language_of(path) == "other":
        return
    if not stat.S_ISREG(status.st_mode):
        tree.skipped.append((_shown(path), "not a regular file"))
    elif not path.isprintable() or _shown(path) != path:
        tree.skipped.append((_shown(path), "its name is not printable text"))
    elif status.st_size > LARGEST:
        tree.skipped.append((path, f"{status.st_size:,} bytes: more than the {LARGEST:,} that are read"))
    elif not os.access(tree.root / path, os.R_OK):
        tree.skipped.append((path, "unreadable: Permission denied"))
    else:
        tree.files.append(SourceFile(path, status.st_size, status.st_mtime_ns, status.st_ctime_ns))


def _link(tree: SourceTree, path: str) -> None:
    """Leave a link out, with what it leads to; one to a folder of the tree is that folder's other name."""
    try:
        target = (tree.root / path).resolve(strict=True)
    except (OSError, RuntimeError):
        tree.skipped.append((_shown(path), "a link that leads nowhere or to itself"))
        return
    folder = target.is_dir()
    if not folder and language_of(path) == "other":
        return
    if not target.is_relative_to(tree.root):
        tree.skipped.append((_shown(path), "a link that leads out of the tree"))
        return
    inside = target.relative_to(tree.root).as_posix()
    tree.skipped.append((_shown(path), f"a link to {_shown(inside)}"))
    if folder and inside != ".":
        tree.links.setdefault(inside, path)


def _shown(path: str) -> str:
    """A path as text that can be printed: bytes that are no UTF-8 and control characters escaped."""
    text = path.encode("utf-8", "backslashreplace").decode()
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)

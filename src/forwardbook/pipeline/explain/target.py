"""What is to be explained: paths as given in, the root and the kind of target beneath it out."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from forwardbook.book.page import hyphenated
from forwardbook.errors import ForwardbookError

Kind = Literal["file", "files", "folder", "repository"]

PROJECT_FILES: Final = (
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "CMakeLists.txt",
    "package.json",
    "Cargo.toml",
    "meson.build",
)
VERSION_CONTROL: Final = (".git", ".hg", ".svn")
INSTALLED: Final = ("site-packages", "dist-packages")
MANY_FILES: Final = 30
"""A folder with more source files than this is documented as a repository."""
TOO_MANY_FILES: Final = 600
"""An installed package with more is not read as a whole for the sake of one part of it."""
CODE: Final = (
    *(".py", ".pyi", ".pyx", ".pyw", ".ipynb"),
    *(".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".inl", ".ipp", ".cu", ".cuh"),
)


class TargetError(ForwardbookError):
    """What was asked to be explained is not there, or does not go together."""


@dataclass(frozen=True, slots=True)
class Target:
    """What to document: `paths` are relative to `root` with `/`; a folder's is its own, `.` for the root."""

    kind: Kind
    root: Path
    paths: tuple[str, ...]
    name: str
    is_loose: bool = False
    """Whether the root is no project and no package, so that only the folders of the files are read."""

    @property
    def folders(self) -> frozenset[str] | None:
        """The folders to read; None for all below the root."""
        return frozenset(path.rpartition("/")[0] for path in self.paths) if self.is_loose else None


def find_target(paths: tuple[Path, ...], *, root: Path | None, repository: bool, feature: str) -> Target:
    """The target that the given paths make up; a path that is not there is refused by name."""
    given = tuple(Path(os.path.abspath(path)) for path in paths)
    for path in given:
        if not path.exists():
            raise TargetError(
                f"explaining {path}: there is no such file or folder. Check the spelling, or give a full path"
            )
    if root is not None and not root.is_dir():
        raise TargetError(f"explaining below {root}: --root is no folder. Give the folder of the repository")
    if repository and (len(given) > 1 or not given[0].is_dir()):
        raise TargetError(
            "explaining a repository: --repository takes one folder, found "
            f"{', '.join(str(path) for path in given)}. Leave it out to document files"
        )
    if len(given) == 1 and given[0].is_dir():
        return _folder(given[0], root, repository)
    top = Path(os.path.abspath(root)) if root is not None else _common_root(given)
    found = tuple(_below(top, path) for path in given)
    packaged = _is_project(top) or (top / "__init__.py").is_file()
    loose = root is None and not packaged and all(path.is_file() for path in given)
    if len(given) == 1:
        return Target("file", top, found, given[0].name, loose)
    common = Path(os.path.commonpath([path if path.is_dir() else path.parent for path in given]))
    return Target("files", top, found, feature or common.name or "files", loose)


def _folder(folder: Path, root: Path | None, repository: bool) -> Target:
    """A folder as a repository of its own, or as a part of one."""
    whole = repository or _is_project(folder) or _holds_more_than(MANY_FILES, folder)
    top = Path(os.path.abspath(root)) if root is not None else folder if whole else _root_of(folder)
    return Target("repository" if whole else "folder", top, (_below(top, folder),), folder.name or "root")


def default_out(start: Path | None = None) -> Path:
    """`context/docs/code-explained` where the workspace has `context`, else `docs/code-explained`."""
    from forwardbook.workspace import Workspace  # it loads the schema of the database

    top = Workspace.find(start).root
    return (top / "context" if (top / "context").is_dir() else top) / "docs" / "code-explained"


def page_names(paths: tuple[str, ...], taken: Mapping[str, str] | None = None) -> dict[str, str]:
    """The name of each path's page: its stem with hyphens; where several agree, parents and ending too.

    `taken` are names of pages that are there already, with the paths that they are about; these stay.
    """
    there = {path: name for name, path in (taken or {}).items()}
    names = {path: _slug(path, 0) for path in paths} | there
    depth = 0
    while clashing := [path for path in _clashes(names) if path not in there]:
        depth += 1
        for path in clashing:
            names[path] = _slug(path, depth)
        if depth > max(path.count("/") for path in clashing) + 1:
            names |= {path: f"{_slug(path, depth)}-{rank}" for rank, path in enumerate(clashing, 1)}
            break
    return {path: names[path] for path in paths}


def _slug(path: str, parents: int) -> str:
    *folders, file = path.split("/")
    stem, dot, ending = file.partition(".") if not file.startswith(".") else (file, "", "")
    wanted = min(max(parents, stem == "__init__"), len(folders))
    kept = folders[len(folders) - wanted :]
    beyond = parents > len(folders) and dot
    return hyphenated("-".join([*kept, stem, *([ending] if beyond else [])])) or "file"


def _clashes(names: dict[str, str]) -> list[str]:
    paths: dict[str, list[str]] = {}
    for path, name in names.items():
        paths.setdefault(name, []).append(path)
    return [path for same in paths.values() if len(same) > 1 for path in same]


def _below(root: Path, path: Path) -> str:
    try:
        return path.relative_to(root).as_posix()
    except ValueError:
        raise TargetError(
            f"explaining {path}: it is not below {root}. Give --root a folder that holds all paths"
        ) from None


def _common_root(paths: tuple[Path, ...]) -> Path:
    roots = {_root_of(path) for path in paths}
    return roots.pop() if len(roots) == 1 else Path(os.path.commonpath(list(roots)))


def _root_of(path: Path) -> Path:
    """The nearest project upward; among installed packages, or without one, the package around the path."""
    folder = path if path.is_dir() else path.parent
    for above in (folder, *folder.parents):
        if above.name in INSTALLED:
            break
        if _is_project(above):
            return above
    while (folder / "__init__.py").is_file() and (folder.parent / "__init__.py").is_file():
        if _holds_more_than(TOO_MANY_FILES, folder.parent):
            break
        folder = folder.parent
    return folder


def _is_project(folder: Path) -> bool:
    return any((folder / name).exists() for name in (*VERSION_CONTROL, *PROJECT_FILES))


def _holds_more_than(limit: int, folder: Path) -> bool:
    count = 0
    for _, below, files in os.walk(folder):
        below[:] = [name for name in below if not name.startswith(".") and name != "__pycache__"]
        count += sum(os.path.splitext(name)[1].lower() in CODE for name in files)
        if count > limit:
            return True
    return False

"""Where links are to be and where they lead in; what stands in the way, and the links themselves, out."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from forwardbook.workspace.storage import WorkspaceError


@dataclass(frozen=True)
class Link:
    """A path below a root, and the folder that it is to lead to."""

    root: Path
    name: str
    target: Path

    @property
    def path(self) -> Path:
        """Where the link is."""
        return self.root / self.name

    def state(self) -> Literal["missing", "there"]:
        """Whether it is to be made, or is there already.

        Raises:
            WorkspaceError: where something else is in its place; nothing is ever replaced.
        """
        inside(self.root, self.name)
        if self.path.is_symlink():
            leads = Path(os.path.realpath(self.path))
            if leads == Path(os.path.realpath(self.target)):
                return "there"
            raise WorkspaceError(
                f"{self.name}: a link is there that leads to {os.readlink(self.path)}; remove it first"
            )
        if self.path.exists():
            kind = "folder" if self.path.is_dir() else "file"
            raise WorkspaceError(f"{self.name}: a {kind} is there already; move it away first")
        return "missing"

    def make(self) -> None:
        """The link, with the folders above it.

        Raises:
            WorkspaceError: where something came into its place meanwhile, or the disk refuses.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.symlink_to(self.target.absolute(), target_is_directory=True)
        except OSError as error:
            raise WorkspaceError(f"{self.name}: {error.strerror or error}; nothing was replaced") from None


def inside(root: Path, name: str) -> None:
    """A link stays below its root, also where folders above it are links.

    Raises:
        WorkspaceError: for a name that does not, or that nothing can be made below.
    """
    parts = PurePosixPath(name).parts
    if not parts or PurePosixPath(name).is_absolute() or ".." in parts:
        raise WorkspaceError(f"{name or 'an empty name'}: give a path below this folder")
    above = root
    for part in parts[:-1]:
        above = above / part
        if above.exists() and not above.is_dir():
            raise WorkspaceError(f"{name}: {above.relative_to(root)} is no folder")
    real, base = Path(os.path.realpath(above)), Path(os.path.realpath(root))
    if not real.is_relative_to(base):
        raise WorkspaceError(f"{name}: {above.relative_to(root)} is a link that leads out of this folder")

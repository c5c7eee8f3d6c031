"""Files that options name for a result: paths in; what keeps a result from them, before any is computed."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path

from forwardbook.errors import ForwardbookError


def unwritable(option: str, path: Path) -> str | None:
    """Why the file cannot be written; None where it can.

    A folder that is named is made; one around a file that is named is not.
    """
    if path.is_dir():
        return f"{option} {path}: it is a folder; name a file"
    if not path.parent.is_dir():
        folder = str(path.parent)
        return f"{option} {path}: there is no folder {folder}; make it: mkdir -p {shlex.quote(folder)}"
    return None


def check_files(option: str, paths: Iterable[Path]) -> None:
    """That all of them can be written.

    Raises:
        ForwardbookError: with everything that cannot.
    """
    problems = [problem for path in paths if (problem := unwritable(option, path))]
    if problems:
        raise ForwardbookError("\n".join(problems))

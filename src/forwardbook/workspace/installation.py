"""A folder in; out where its installed packages are: a virtual environment, or what `pip --target` filled."""

from __future__ import annotations

import sys
from pathlib import Path

from forwardbook.errors import ForwardbookError


def packages_folder(folder: Path) -> Path | None:
    """The folder of installed packages, None where there are none.

    Raises:
        ForwardbookError: for a virtual environment of another Python, whose packages this one cannot import.
    """
    folder = folder.resolve()
    if (folder / "pyvenv.cfg").is_file():
        ours = f"python{sys.version_info.major}.{sys.version_info.minor}"
        for place in (folder / "lib" / ours / "site-packages", folder / "Lib" / "site-packages"):
            if place.is_dir():
                return place
        found = ", ".join(sorted(path.name for path in (folder / "lib").glob("python*"))) or "none"
        raise ForwardbookError(
            f"looking into the environment {folder}: it is of {found}, and this program runs on {ours}; "
            "make both environments with the same Python"
        )
    return folder if any(folder.glob("*.dist-info")) else None

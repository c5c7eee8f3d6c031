"""What the tests of `explain` share: small sources, a folder of nasty files, and the command to run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from geometry import FILES, Explain, write_files  # noqa: E402
from nasty import write_nasty  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A project with one package of three files and a test."""
    return write_files(tmp_path / "project", FILES)


@pytest.fixture
def nasty(tmp_path: Path) -> Path:
    """A folder of files that no reader likes."""
    folder = tmp_path / "nasty"
    folder.mkdir()
    write_nasty(folder)
    return folder


@pytest.fixture
def explain(tmp_path: Path) -> Explain:
    """Runs `forwardbook explain` as a user does, in the temporary folder and with a cache of its own."""
    environment = os.environ | {
        "PYTHONPATH": str(ROOT / "src"),
        "NO_COLOR": "1",
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }

    def run(*arguments: object, where: Path = tmp_path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-P", "-m", "forwardbook", "explain", *map(str, arguments)],
            cwd=where,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return run

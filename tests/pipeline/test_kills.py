"""A build of the catalogue that is killed and resumed ends in the same files, byte for byte."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


def _killed(*arguments: str) -> str:
    """What the benchmark says of so many kills; it fails where a byte differs or a process is left."""
    command = [sys.executable, "-m", "benchmarks.kills", "--no-record", *arguments]
    environment = os.environ | {"HF_HUB_OFFLINE": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert 0 == done.returncode, done.stderr
    return done.stdout


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="what is left of a build is looked for in /proc")
@pytest.mark.slow
def test_two_kills_leave_no_trace() -> None:
    """Once the build alone, while units are worked on; once its whole group, while files are written."""
    assert "[true]" in _killed("--kills", "2", "--units", "2", "--jobs", "2")


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_twenty_kills_leave_no_trace() -> None:
    """At twenty random moments, in four workspaces."""
    assert "[true, true, true, true]" in _killed("--kills", "20")

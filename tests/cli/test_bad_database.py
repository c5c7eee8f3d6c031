"""A database that cannot be used, or is used by two at once: a message, the file as it was, nothing lost."""

import json
import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest

from forwardbook.workspace import Workspace

from .conftest import COMMAND, GATED, Program

WHOLE = json.dumps({"schema_version": 1, "rules_version": "", "entries": {}}, indent=1)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("not json at all", ("the database is damaged", "line 1, column 1")),
        (WHOLE[:40], ("the database is damaged", "it stops being JSON")),
        (WHOLE.replace("1,", "99,", 1), ("schema version 99", "pip install --upgrade forwardbook")),
        ('{"schema_version": 1, "entries": 3}', ("'entries' is not an object",)),
        ("", ("the database is damaged",)),
    ],
    ids=["corrupted", "truncated", "newer", "other shape", "empty"],
)
@pytest.mark.parametrize("command", [("analyze-module", *GATED), ("validate",)], ids=["analyze", "validate"])
def test_damaged_database(
    program: Program, folder: Path, command: tuple[str, ...], text: str, words: tuple[str, ...]
) -> None:
    """A database that cannot be read stops the command before anything runs, and is left untouched."""
    (folder / "module_db.json").write_text(text)
    result = program(*command)

    assert (1, "", text) == (result.returncode, result.stdout, (folder / "module_db.json").read_text())
    assert result.stderr.startswith("error: reading ")
    assert [word for word in (*words, "left untouched") if word not in result.stderr] == []
    assert not (folder / "generated_modules").exists()


def test_read_only_database(program: Program, folder: Path) -> None:
    """A database that must not be written is told before anything runs."""
    path = folder / "module_db.json"
    path.write_text(WHOLE)
    path.chmod(0o444)
    result = program("analyze-module", *GATED, "--timeout", "0.01")  # no time to run anything

    assert (1, "", WHOLE) == (result.returncode, result.stdout, path.read_text())
    assert "the file is read-only" in result.stderr
    assert "chmod u+w" in result.stderr


def test_database_that_is_a_folder(program: Program, folder: Path) -> None:
    """A folder where the database should be is told, and stays."""
    (folder / "module_db.json").mkdir()
    result = program("analyze-module", *GATED)

    assert (1, "") == (result.returncode, result.stdout)
    assert "module_db.json: Is a directory" in result.stderr
    assert (folder / "module_db.json").is_dir()


def test_calculator_that_cannot_be_written(program: Program, folder: Path) -> None:
    """Where the calculator cannot be written, the entry is not stored either."""
    (folder / "generated_modules").write_text("a file where a folder should be")
    result = program("analyze-module", *GATED)

    assert (1, "") == (result.returncode, result.stdout)
    assert result.stderr.startswith("error: writing ")
    assert not (folder / "module_db.json").exists()


def test_two_processes_at_once(folder: Path, environment: dict[str, str]) -> None:
    """Two analyses that run at the same time both end up in the database."""
    commands = [("analyze-module", *GATED), ("analyze-module", "torch.nn.ReLU", "--force")]  # ReLU is shipped
    running = [
        subprocess.Popen([*COMMAND, *command], cwd=folder, env=environment, stdout=subprocess.DEVNULL)
        for command in commands
    ]
    codes = [process.wait(300) for process in running]
    database = Workspace(folder).load()

    assert [0, 0] == codes
    assert {"layers_Gated", "torch_ReLU"} <= set(database)
    assert all(
        (folder / "generated_modules" / entry.generated_file_name).is_file()
        for entry in (database["layers_Gated"], database["torch_ReLU"])
    )


SLOW = """\
import ctypes, time
import torch


class Slow(torch.nn.Module):
    def forward(self, x):
        ctypes.CDLL(None).prctl(15, b"NAME", 0, 0, 0)  # the name of this process
        time.sleep(600)
"""


def _named(name: str) -> list[Path]:
    """The running processes of this name."""
    found = []
    for path in Path("/proc").glob("[0-9]*/comm"):
        with suppress(OSError):
            found += [path] if path.read_text().strip() == name else []
    return found


def _hears_interrupts() -> None:
    """A shell's background jobs ignore Ctrl-C, and so would what they start."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.skipif(not Path("/proc/self/comm").exists(), reason="finds processes in /proc")
def test_interrupted_in_the_middle(folder: Path, environment: dict[str, str]) -> None:
    """Ctrl-C while the class runs: exit code 130, nothing stored, and its process is gone."""
    name = f"slow-{os.getpid()}"
    (folder / "slow.py").write_text(SLOW.replace("NAME", name))
    process = subprocess.Popen(
        [*COMMAND, "analyze-module", "slow.py:Slow", "--input", "x=batch_size,4"],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=_hears_interrupts,
    )
    deadline = time.monotonic() + 120
    while process.poll() is None and time.monotonic() < deadline and not _named(name):
        time.sleep(0.05)
    assert _named(name)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)

    assert (130, "", "interrupted: nothing was stored") == (process.returncode, out, err.strip())
    assert not (folder / "module_db.json").exists()
    assert not (folder / "generated_modules").exists()
    assert [] == _named(name)

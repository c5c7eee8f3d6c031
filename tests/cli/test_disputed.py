"""A class that does more on a real device than on meta: the judge that runs it says so, and is obeyed."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from forwardbook.workspace import Workspace

from .conftest import COMMAND

SOURCE = """\
import torch
from torch import nn


class TwoFaced(nn.Module):
    def __init__(self, width: int = 16):
        super().__init__()
        self.fc = nn.Linear(width, width, bias=False)

    def forward(self, x):
        y = self.fc(x)
        if x.device.type != "meta":
            y = y + torch.cat([y, y])[: len(y)]
        return y
"""
ANALYSE = ("analyze-module", "faces.py:TwoFaced", "--init", "width=16", "--input", "x=batch_size,width")
Result = subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _workspace(tmp_path_factory.mktemp("faces"))


def _workspace(made: Path) -> Path:
    (made / "faces.py").write_text(SOURCE)
    (made / "module_db.json").write_text('{"schema_version": 2, "entries": {}}')
    return made


@pytest.fixture(scope="module")
def run(folder: Path, environment: dict[str, str]) -> Result:
    return _forwardbook(folder, environment, *ANALYSE)


def _forwardbook(folder: Path, environment: dict[str, str], *arguments: str) -> Result:
    given = environment | {"PYTHONPATH": os.pathsep.join((environment["PYTHONPATH"], str(folder)))}
    command = [*COMMAND, *arguments]
    return subprocess.run(command, cwd=folder, env=given, capture_output=True, text=True, check=False)


def test_a_dispute_is_stored_told_and_exits_with_1(run: Result, folder: Path) -> None:
    """Three tensors live at line 13 where formulas know of one; batch and width are the proof's."""
    entry = Workspace(folder).load()["faces_TwoFaced"]
    [proof, *_] = [one.proof for one in entry.regimes if one.proof is not None and one.proof.judges]
    [judge] = [one for one in proof.judges if one.disagrees]

    assert (1, "unproved", "unproved") == (run.returncode, entry.validation.verdict, proof.verdict)
    assert ("peak", "faces.py", 13, "difference") == (judge.quantity, judge.file, judge.line, judge.line_is)
    assert judge.ours is not None and judge.theirs == 4 * judge.ours
    assert f"faces.py:13: regime {entry.regimes[0].name}: {judge.name} says otherwise of peak" in run.stderr
    assert f"{judge.theirs:,} against our {judge.ours:,}" in run.stderr
    assert "verdict unproved" in run.stdout and "exact" not in run.stdout


def test_a_stored_dispute_is_told_again(run: Result, folder: Path, environment: dict[str, str]) -> None:
    """Nothing is derived anew: `show` says unproved, a further analysis exits with 1."""
    shown = _forwardbook(folder, environment, "show", "faces_TwoFaced")
    again = _forwardbook(folder, environment, *ANALYSE)

    assert "verdict unproved" in shown.stdout
    assert "says otherwise of peak" in " ".join(shown.stdout.split())
    assert (1, True) == (again.returncode, "read from the database" in again.stderr)


def test_the_catalogue_obeys_the_judge(tmp_path: Path, environment: dict[str, str]) -> None:
    """A build of its library counts nothing as exact, and coverage says the same."""
    folder = _workspace(tmp_path)
    built = _forwardbook(folder, environment, "catalogue", "build", "--library", "faces", "--jobs", "1")
    told = _forwardbook(folder, environment, "coverage", "--library", "faces", "--json")
    share = json.loads(told.stdout)["faces"]

    assert "disputed" in built.stdout + built.stderr
    assert (0, 1) == (share["exact"], share["unproved"])
    assert "unproved" == Workspace(folder).load()["faces_TwoFaced"].validation.verdict

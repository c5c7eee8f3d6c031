"""A real repository under the guard: init, analyse, a dearer commit, check, budgets, diff, regenerate."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from .conftest import Program

LAYERS = """\
import torch
from torch import nn

from mymodel.sizes import RATIO


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.up = nn.Linear(width, RATIO * width, bias=False)
        self.down = nn.Linear(RATIO * width, width, bias=False)

    def forward(self, x):
        h = self.up(x)
        h = torch.relu(h)
        return self.down(h)
"""
PROJECT = """\
[project]
name = "mymodel"
version = "1.0"

[tool.forwardbook.sizes]
seq_len = 2048
width = 1024

[tool.forwardbook.budgets]
# the layer takes 4 * 25 * 2048 * 1024 * 1024 = 214,748,364,800 operations
"mymodel.Block" = {flops = "< 2.3e11 @ batch_size=1, seq_len=2048", weights = "<= 200 MiB"}
"""
GIT = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
WHO = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.org")


def git(folder: Path, *arguments: str) -> str:
    """What git prints, in a repository of the test."""
    command = ["git", *WHO, *arguments]
    done = subprocess.run(
        command, cwd=folder, env=os.environ | GIT, capture_output=True, text=True, check=True
    )
    return done.stdout


def commit(folder: Path, message: str) -> None:
    """Everything, as it is."""
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", message)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small package under git."""
    (tmp_path / "mymodel").mkdir()
    for name, text in {
        "mymodel/__init__.py": "",
        "mymodel/sizes.py": "RATIO = 25\n",
        "mymodel/layers.py": LAYERS,
        "pyproject.toml": PROJECT,
    }.items():
        (tmp_path / name).write_text(text)
    git(tmp_path, "init", "--quiet", "--initial-branch", "main")
    commit(tmp_path, "A model")
    return tmp_path


def test_a_repository_from_init_to_an_accepted_change(folder: Path, program: Program) -> None:
    """A commit that makes one layer 12 % dearer fails at the right lines, breaks a budget, is accepted."""
    assert 0 == program("init").returncode
    options = ("--init", "width=64", "--input", "x=batch_size,seq_len,width")
    done = program("analyze-module", "mymodel/layers.py:Block", *options)
    assert 0 == done.returncode, done.stderr
    commit(folder, "Under the guard")
    fresh = program("check")
    assert (0, "0 of 1 class cost more, 0 of 2 budgets broken\n") == (fresh.returncode, fresh.stderr)

    (folder / "mymodel" / "sizes.py").write_text("RATIO = 28  # wider\n")
    commit(folder, "Wider")
    failed = program("check", "--report", "r.json", "--report", "r.md", "--report", "r.sarif")
    assert 1 == failed.returncode
    assert "1 of 1 class costs more, 1 of 2 budgets broken" in failed.stderr
    assert "h = self.up(x)" in failed.stdout
    [change] = json.loads((folder / "r.json").read_text())["changes"]
    lines = {line["code"]: line for line in change["regimes"][0]["lines"]}
    assert {"h = self.up(x)", "h = torch.relu(h)", "return self.down(h)"} == set(lines)
    up = {one["quantity"]: one for one in lines["h = self.up(x)"]["quantities"]}["flops"]
    product = 2 * 2048 * 1024 * 1024
    assert (14, 25 * product, 28 * product) == (
        lines["h = self.up(x)"]["line"],
        up["before"]["value"],
        up["after"]["value"],
    )
    assert 0.12 == pytest.approx(up["share"])
    places = [
        one["locations"][0]["physicalLocation"]
        for one in json.loads((folder / "r.sarif").read_text())["runs"][0]["results"]
    ]
    assert {("mymodel/layers.py", 14), ("mymodel/layers.py", 15), ("mymodel/layers.py", 16)} <= {
        (place["artifactLocation"]["uri"], place["region"]["startLine"]) for place in places
    }
    assert (
        "| 14 `h = self.up(x)` | flops | 107,374,182,400 | 120,259,084,288 | +12.0 % |"
        in (folder / "r.md").read_text()
    )
    within = program("check", "--tolerance", "12%")  # the budget still is broken
    assert (1, "0 of 1 class cost more by more than 12.0 %, 1 of 2 budgets broken") == (
        within.returncode,
        within.stderr.splitlines()[-1],
    )

    compared = program("diff", "HEAD~1", "HEAD", "--format", "json")
    assert 0 == compared.returncode, compared.stderr
    [change] = json.loads(compared.stdout)["changes"]
    assert "mymodel.layers.Block" == change["class"]
    before = program("diff", "HEAD~1", "HEAD", "--stored")
    assert "0 of 1 class cost more" in before.stderr

    done = program("regenerate", "--jobs", "2", "--report", "regenerated.md")
    assert 0 == done.returncode, done.stderr
    assert "changed      mymodel.layers.Block" in done.stdout
    assert "`56 * batch_size * seq_len * width * width`" in (folder / "regenerated.md").read_text()
    accepted = program("check", "--format", "markdown")
    assert 1 == accepted.returncode
    assert "**broken**" in accepted.stdout
    project = (folder / "pyproject.toml").read_text()
    (folder / "pyproject.toml").write_text(project.replace("< 2.3e11", "< 2.5e11"))
    assert 0 == program("check").returncode
    commit(folder, "Accept it")
    against = program("check", "--against", "HEAD~2")
    assert 1 == against.returncode
    assert "+12.0 %" in against.stdout
    assert "" == git(folder, "status", "--short", "--", "mymodel", "module_db.json", "generated_modules")


@pytest.mark.parametrize(
    ("arguments", "words", "code"),
    [
        (("check", "--against", "nowhere"), "no such commit", 1),
        (("check", "Nothing"), "it is not in the database", 1),
        (("check", "--tolerance", "much"), "a share of the cost was expected", 2),
        (("check", "--report", "out.docx"), "the ending says what is written", 2),
        (("check", "--report", "no/out.md"), "there is no folder no; make it: mkdir -p no", 1),
        (("regenerate", "--report", "no/out.md"), "there is no folder no; make it: mkdir -p no", 1),
        (("check", "--cluster", "nowhere"), "no address of a scheduler", 2),
        (("diff", "nowhere", "now"), "no such commit", 1),
        (("diff", "mymodel", "now"), "no module_db.json and no installed packages", 1),
        (("regenerate", "Nothing"), "it is not in the database", 1),
        (("init", "--branch", "a b"), "no name of a branch", 2),
        (("init", "missing"), "no such folder", 1),
    ],
)
def test_mistakes_are_told_without_a_traceback(
    folder: Path, program: Program, arguments: tuple[str, ...], words: str, code: int
) -> None:
    """Each says what was expected; the exit code is 2 for wrong usage and 1 for everything else."""
    done = program(*arguments)

    assert code == done.returncode, done.stderr
    assert words in " ".join(done.stderr.replace("│", " ").split())
    assert "Traceback" not in done.stderr


def test_wrong_settings_are_listed_together(folder: Path, program: Program) -> None:
    """Every mistake of the table is told, and nothing is run."""
    (folder / "pyproject.toml").write_text("[tool.forwardbook]\nspeed = 1\nbudgets = {A = {flops = 'x'}}\n")
    done = program("check")

    assert 1 == done.returncode
    assert "speed: not known" in done.stderr
    assert "a comparison, a number and sizes were expected" in done.stderr


def test_databases_are_compared(folder: Path, program: Program) -> None:
    """Two database files are compared without deriving anything; a damaged one is told."""
    (folder / "a.json").write_text(json.dumps({"schema_version": 1, "rules_version": "", "entries": {}}))
    (folder / "b.json").write_text("{")
    done, damaged = program("diff", "a.json", "a.json"), program("diff", "a.json", "b.json")

    assert (0, "0 of 0 classes cost more\n") == (done.returncode, done.stderr)
    assert 1 == damaged.returncode
    assert "the database is damaged" in damaged.stderr


@pytest.mark.slow
def test_two_installations_are_compared(folder: Path, program: Program) -> None:
    """The same class as two installed versions have it; nothing of the workspace's own is in the way."""
    options = ("--init", "width=64", "--input", "x=batch_size,seq_len,width")
    assert 0 == program("analyze-module", "mymodel/layers.py:Block", *options).returncode
    for version, ratio in (("1.0", 25), ("2.0", 28)):
        place = folder / f"v{version}"
        shutil.copytree(folder / "mymodel", place / "mymodel")
        (place / "mymodel" / "sizes.py").write_text(f"RATIO = {ratio}\n")
        (place / f"mymodel-{version}.dist-info").mkdir()
        metadata = f"Metadata-Version: 2.1\nName: mymodel\nVersion: {version}\n"
        (place / f"mymodel-{version}.dist-info" / "METADATA").write_text(metadata)
    done = program("diff", "v1.0", "v2.0", "--format", "json")
    [change] = json.loads(done.stdout)["changes"]

    assert 0 == done.returncode, done.stderr
    assert 0.12 == pytest.approx(change["regimes"][0]["quantities"][0]["share"])

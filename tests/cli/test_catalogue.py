"""`catalogue build` and `coverage` as a person types them: what is listed, built, told, refused."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from forwardbook.workspace.database_file import database_in

Program = Callable[..., "object"]
PARTS = """\
import torch
from torch import nn

raise_if_imported_twice = 1


class Gate(nn.Module):
    def __init__(self, dim: int, hidden: int = 32):
        super().__init__()
        self.up = nn.Linear(dim, hidden)
        self.down = nn.Linear(hidden, dim)

    def forward(self, x):
        return self.down(torch.relu(self.up(x)))


class Door(nn.Module):
    def __init__(self, dim: int, hidden: int = 32):
        super().__init__()
        self.up = nn.Linear(dim, hidden)
        self.down = nn.Linear(hidden, dim)

    def forward(self, x):
        return self.down(torch.relu(self.up(x)))


class Lookup(nn.Module):
    def __init__(self, table):
        super().__init__()
        self.table = table

    def forward(self, x):
        return x + self.table
"""


@pytest.fixture
def package(folder: Path) -> Path:
    """A package of three classes, two of them copies, one that nobody can build."""
    (folder / "parts_of_doors").mkdir()
    (folder / "parts_of_doors" / "__init__.py").touch()
    (folder / "parts_of_doors" / "layers.py").write_text(PARTS, encoding="utf-8")
    return folder


def test_help_names_the_command(program: Callable[..., object]) -> None:
    """The group says what it does."""
    assert "build" in program("catalogue", "--help").stdout  # type: ignore[attr-defined]


def test_dry_run_lists_units_and_runs_nothing(program: Callable[..., object], package: Path) -> None:
    """The plan is read from source."""
    done = program("catalogue", "build", "--library", "parts_of_doors", "--dry-run")

    assert "3 classes in 1 units of parts_of_doors" in done.stdout  # type: ignore[attr-defined]
    assert not (package / "catalogue.json").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("catalogue", "build", "--library", "no_such_package"), "is not installed"),
        (("catalogue", "build", "--library", "torch", "--only", "*unicorn*"), "there is none"),
        (("coverage", "--library", "no_such_package"), "is not installed"),
    ],
)
def test_what_cannot_be_done_is_told(
    program: Callable[..., object], arguments: tuple[str, ...], said: str
) -> None:
    """A message without a traceback, and exit code 1."""
    done = program(*arguments)

    assert 1 == done.returncode  # type: ignore[attr-defined]
    assert said in " ".join(done.stderr.split())  # type: ignore[attr-defined]
    assert "Traceback" not in done.stderr  # type: ignore[attr-defined]


def test_without_a_catalogue_of_its_own_a_workspace_counts_the_shipped_one(
    program: Callable[..., object],
) -> None:
    """Each class that was found has one verdict, or is among the reasons for not reaching it."""
    done = program("coverage", "--library", "torch", "--json")
    told = json.loads(done.stdout)["torch"]  # type: ignore[attr-defined]
    verdicts = [told[name] for name in ("exact", "bounded", "assumed", "pinned", "wrong", "unproved")]
    unreached = [one["classes"] for one in told["reasons"] if one["state"] == "unreached"]

    assert told["found"] > told["reached"] == sum(verdicts) > 140
    assert told["found"] - told["reached"] == sum(unreached)
    assert told["both"] + told["symbolic_alone"] + told["static_alone"] == told["exact"]
    assert told["formulas"] > 1000 > told["nameless"] == 0


def test_a_damaged_catalogue_is_told(program: Callable[..., object], package: Path) -> None:
    """A file of another kind is left as it is."""
    (package / "catalogue.json").write_text("[]", encoding="utf-8")
    done = program("coverage")

    assert 1 == done.returncode  # type: ignore[attr-defined]
    assert "move it away" in " ".join(done.stderr.split())  # type: ignore[attr-defined]


def test_a_package_is_built_and_counted(program: Callable[..., object], package: Path) -> None:
    """Classes are proved and stored, a copy leads to its like, a missing argument is named."""
    first = program("catalogue", "build", "--library", "parts_of_doors", "--json")
    again = program("catalogue", "build", "--library", "parts_of_doors")
    told = json.loads(program("coverage", "--json").stdout)["parts_of_doors"]  # type: ignore[attr-defined]
    entries = database_in(package / "module_db.json")

    assert 0 == first.returncode == again.returncode  # type: ignore[attr-defined]
    assert 3 == json.loads(first.stdout)["coverage"]["found"]  # type: ignore[attr-defined]
    assert "1 of 1 units were known" in again.stderr  # type: ignore[attr-defined]
    assert [3, 2, 2, 0, 0, 0] == [
        told[name] for name in ("found", "reached", "exact", "bounded", "wrong", "unproved")
    ]
    assert "no value is known for table" in told["reasons"][0]["reason"]
    assert "parts_of_doors_Door" == entries["parts_of_doors_Gate"].same_as
    flops = entries["parts_of_doors_Door"].regimes[0].flop_analysis.flops
    assert "4 * {batch_size} * {seq_len} * {dim} * {hidden}" == flops

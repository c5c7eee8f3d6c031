"""The Python API: `forwardbook.analyze` and `forwardbook.cost`."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

import forwardbook
from forwardbook.errors import ForwardbookError
from forwardbook.pipeline.analysis.objects import analyze
from forwardbook.pipeline.derivation.concrete import Report


class Sum(nn.Module):
    """Two matrix products and a sum; its mode tells whether it was called in eval mode."""

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(8, 16)
        self.down = nn.Linear(16, 8)
        self.modes: list[bool] = []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.modes.append(self.training)
        x = self.down(self.up(x))
        return x + 1


class Branching(nn.Module):
    """A wide layer for what is positive on average, else a narrow one."""

    def __init__(self) -> None:
        super().__init__()
        self.wide, self.narrow = nn.Linear(8, 8), nn.Linear(8, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.mean() > 0:
            return self.wide(x)  # type: ignore[no-any-return]
        return self.narrow(x)  # type: ignore[no-any-return]


def test_a_cost_says_what_it_assumed() -> None:
    """On meta nobody knows the mean: the way that was taken is told; on the CPU nothing is assumed."""
    with torch.device("meta"):
        unknown = forwardbook.cost(Branching(), torch.empty(3, 8))
    known = forwardbook.cost(Branching(), torch.ones(3, 8))
    assert [2 * 3 * 8 * 1, 2 * 3 * 8 * 8] == [unknown.flops, known.flops]
    [said] = unknown.assumptions
    assert "taken as False: `if x.mean() > 0:`" in said
    assert f"assumed: {said}" in str(unknown).splitlines()
    assert () == known.assumptions


def test_import_is_light() -> None:
    """Importing forwardbook imports neither torch nor anything else that is slow."""
    code = "import sys, forwardbook; print(*({'torch', 'pydantic', 'libcst'} & set(sys.modules)))"
    source = Path(forwardbook.__file__).parent.parent
    result = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(source)},
        check=True,
    )

    assert "" == result.stdout.strip()


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_cost_of_a_call(device: str) -> None:
    """Every quantity of one call is an integer, on the CPU and on meta the same; lines sum to the total."""
    module = Sum().to(device)
    report = forwardbook.cost(module, torch.ones(4, 8, device=device))

    assert isinstance(report, Report)
    assert 2 * 2 * 4 * 8 * 16 == report.flops
    assert 4 * 16 + 4 * 8 + 4 * 8 == report.pointwise_ops
    assert 4 * (8 * 16 + 16 + 16 * 8 + 8) == report.weights
    assert ["x = self.down(self.up(x))", "return x + 1"] == [line.code for line in report.lines]
    assert report.flops == sum(line.flops for line in report.lines)
    assert report.reads == sum(line.reads for line in report.lines)
    assert () == report.unresolved


def test_cost_leaves_the_module_as_it_was() -> None:
    """The call runs in eval mode without gradients; afterwards the module is in the mode it was in."""
    module = Sum().train()
    module.up.eval()
    forwardbook.cost(module, torch.ones(4, 8))

    assert [False] == module.modes
    assert (True, False) == (module.training, module.up.training)


def test_cost_prints_as_a_table() -> None:
    """A report prints its quantities for people."""
    printed = str(forwardbook.cost(nn.Linear(64, 32), torch.ones(8, 64)))

    assert "torch.nn.modules.linear.Linear" in printed
    assert "32,768" in printed


def test_cost_of_something_else_is_refused() -> None:
    """What is no module is refused with what was expected."""
    with pytest.raises(ForwardbookError, match=r"a torch\.nn\.Module was expected, found int"):
        forwardbook.cost(3)


def test_analyze_refuses_an_instance_and_a_local_class() -> None:
    """Only a class that is written at the top level of a file can be read."""

    class Local(nn.Module):
        pass

    with pytest.raises(ForwardbookError, match="found an instance"):
        analyze(Sum())  # type: ignore[arg-type]
    with pytest.raises(ForwardbookError, match="not written at the top level of a file"):
        analyze(Local)


def test_analyze_gives_the_entry_of_a_class(tmp_path: Path) -> None:
    """A live class is analysed as its name is, and stored in the workspace given."""
    entry = forwardbook.analyze(Sum, inputs={"x": "batch_size,8"}, workspace=tmp_path)

    assert "exact" == entry.validation.verdict
    assert "512 * {batch_size}" == entry.regimes[0].flop_analysis.flops
    assert (tmp_path / "module_db.json").is_file()

"""A boolean that the code reads is set the other way: a further regime, a note why not, or nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from forwardbook.analyzers.reader import read_class
from forwardbook.formula import Expr, parse
from forwardbook.pipeline.child.request import Request
from forwardbook.pipeline.child.work import work
from forwardbook.pipeline.derivation.flips import read_by
from forwardbook.schema import Entry

CODE = """
import torch
from torch import Tensor, nn


class Flippable(nn.Module):
    def __init__(
        self, width: int = 8, bias: bool = True, gated: bool = False, broken: bool = False, same: bool = False
    ) -> None:
        super().__init__()
        self.inner = nn.Linear(width, width, bias=bias)
        self.gated, self.same = gated, same
        if broken:
            raise ValueError("not implemented yet")

    def forward(self, x: Tensor) -> Tensor:
        y = self.inner(x)
        if self.gated:
            y = y * x
        return y if self.same else y.view(x.shape)


class Plain(nn.Module):
    def __init__(self, config) -> None:
        super().__init__()
        self.scaled = config.scale_outputs
        self.inner = nn.Linear(config.width, config.width, bias=config.projection_bias)

    def forward(self, x: Tensor) -> Tensor:
        x = self.inner(x)
        return x * 2 if self.scaled and self.config.is_wide else x
"""
ROWS, WIDTH = Expr.symbol("rows"), Expr.symbol("width")


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module of the user's."""
    monkeypatch.syspath_prepend(str(tmp_path))
    path = tmp_path / "flippable_layers.py"
    path.write_text(CODE)
    return path


def entry(file: Path, **given: object) -> Entry:
    """What an analysis says of the class."""
    request = Request.model_validate(
        {
            "target": "flippable_layers.Flippable",
            "file": str(file),
            "roots": (str(file.parent),),
            "inputs": {"x": "rows,width"},
            "derive": "symbolic",
            "init": {"width": "8"},
            **given,
        }
    )
    response = work(request)
    assert response.problem is None, response.problem
    return Entry.model_validate(response.entry)


def test_other_side_of_a_boolean_is_a_regime(file: Path) -> None:
    """What costs something else is proved and named; the usual build says which way it was, and why."""
    made = entry(file)
    found = {one.name: one for one in made.regimes}
    usual, ungated = found["default"], 2 * ROWS * WIDTH * WIDTH

    assert {"default", "default, bias False", "default, gated True"} == found.keys()
    assert "exact" == made.validation.verdict
    assert {ungated} == {parse(one.flop_analysis.flops) for one in found.values()}
    gate = parse(found["default, gated True"].flop_analysis.pointwise_ops) - parse(
        usual.flop_analysis.pointwise_ops
    )
    assert ROWS * WIDTH == gate
    assert "built with gated=True" in found["default, gated True"].assumptions
    assert "built with gated=False" not in found["default, gated True"].assumptions
    assert {
        "built with bias=True",
        "built with gated=False",
        "built with broken=False",
        "built with broken=False (True: ValueError at line 14)",
        "built with same=False",
    } == set(usual.assumptions)


@pytest.mark.parametrize("given", [{"explore": False}, {"flips": False}])
def test_flips_can_be_left_out(file: Path, given: dict[str, object]) -> None:
    """Without exploring there is the usual build alone, and it says what it was built with."""
    [usual] = entry(file, **given).regimes
    booleans = {"bias": True, "gated": False, "broken": False, "same": False}

    assert ("default", booleans) == (usual.name, usual.choices)
    assert {f"built with {name}={value}" for name, value in booleans.items()} == set(usual.assumptions)


def test_what_the_user_chose_stays(file: Path) -> None:
    """A boolean that was given is not set the other way."""
    made = entry(file, init={"width": "8", "gated": "True", "bias": "False", "broken": "False"})

    [usual] = made.regimes
    assert ("default", True, False) == (usual.name, usual.choices["gated"], usual.choices["bias"])


def test_names_that_the_source_reads(file: Path) -> None:
    """Fields that branches test come first, through attributes too; then what the constructor reads."""
    names = list(dict.fromkeys(name for name in read_by(read_class("Plain", file)) if name))

    assert ["is_wide", "scale_outputs"] == names[:2] or ["scale_outputs", "is_wide"] == names[:2]
    assert "projection_bias" in names[2:]

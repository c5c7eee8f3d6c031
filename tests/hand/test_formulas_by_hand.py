"""Formulas that a person wrote down are what classes do: what forwardbook's own are held against."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from forwardbook.formula import parse

ROOT = str(Path(__file__).resolve().parents[2])
sys.path.append(ROOT)
from benchmarks.hand.case import Case  # noqa: E402 - found by the line above
from benchmarks.hand.runs import compare  # noqa: E402
from benchmarks.hand_formulas import CASES, main  # noqa: E402

sys.path.remove(ROOT)

each = pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.name.rpartition('.')[2]}, {case.call}")


@each
def test_run_costs_what_was_written_down(case: Case) -> None:
    """Flops, and weights and pointwise operations where somebody wrote them down, are those of a run."""
    for quantity, (formula, run) in compare(case, 0).items():
        assert formula == run, quantity


@each
def test_definitions_keep_the_value(case: Case) -> None:
    """A formula with its definitions put in has the value of the formula that uses them."""
    sizes = case.sizes(1)
    for quantity in case.formulas:
        assert case.value(quantity, sizes) == case.expression(quantity).evaluate(sizes)


def test_each_call_of_a_class_is_written_down_once() -> None:
    """There are at least sixty calls, no two of them the same."""
    assert len(CASES) == len({(case.name, case.call) for case in CASES}) >= 60


def test_wrong_formula_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The command ends with 1 and names the class whose formula is not what a run costs."""
    assert 0 == main(["--only", "torch.nn.Linear"])
    monkeypatch.setattr(Case, "value", lambda case, quantity, sizes: parse("{batch_size}").evaluate(sizes))
    assert 1 == main(["--only", "torch.nn.Linear"])
    assert "torch.nn.Linear, default" in capsys.readouterr().out

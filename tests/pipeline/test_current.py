"""What a check derives again: what code or a version changed, and not what it has nothing to hold against."""

from __future__ import annotations

from pathlib import Path

import pytest

from forwardbook.pipeline.regenerate.current import Now
from forwardbook.pipeline.regenerate.derive import Outcome, Task
from forwardbook.schema import Entry, Verdict
from forwardbook.workspace import Workspace
from forwardbook.workspace.kept_outcomes import KeptOutcomes


class Derived(Exception):
    """It was derived."""


def derived(task: Task) -> Outcome:
    """In place of a derivation."""
    raise Derived(task.key)


def of_other_rules(verdict: Verdict) -> Entry:
    """The linear layer as it is shipped, as if rules of another time had said so."""
    entry = Workspace.find(Path(__file__).parent).load()["torch_Linear"]
    regimes = [
        one.model_copy(update={"proof": one.proof.model_copy(update={"verdict": verdict})})
        for one in entry.regimes
        if one.proof is not None
    ]
    versions = {**entry.versions, "rules": "0" * 16}
    return entry.model_copy(update={"regimes": tuple(regimes), "versions": versions})


@pytest.mark.parametrize("verdict", ["unproved", "wrong"])
def test_a_class_without_a_proved_formula_is_left_as_it_is(verdict: Verdict, tmp_path: Path) -> None:
    """Its code is the same, and no number of before could be held against one of now."""
    entry = of_other_rules(verdict)
    now = Now(tmp_path, KeptOutcomes(tmp_path), work=derived)

    [found] = now.of({"torch_Linear": entry}, entry.versions["rules"])

    assert (entry, False) == (found.entry, found.derived)


def test_a_proved_formula_of_other_rules_is_derived_again(tmp_path: Path) -> None:
    """Rules that cost an operation otherwise make another formula of the same code."""
    entry = of_other_rules("exact")
    now = Now(tmp_path, KeptOutcomes(tmp_path), work=derived)

    with pytest.raises(Derived, match="torch_Linear"):
        list(now.of({"torch_Linear": entry}, entry.versions["rules"]))

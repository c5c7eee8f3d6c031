"""What was derived of a class and what a model claims of it: where both speak, they are one polynomial."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from forwardbook.pipeline.agent.agreement import parting
from forwardbook.pipeline.agent.module import Check
from forwardbook.pipeline.analysis.attempt import Attempt
from forwardbook.pipeline.analysis.given import request_for
from forwardbook.pipeline.analysis.one import attempt
from forwardbook.pipeline.analysis.subject import subject
from forwardbook.pipeline.child.job import Limits
from forwardbook.profiling.claim import Claim
from forwardbook.schema import Entry
from forwardbook.workspace import Workspace

from .inside import run_inside
from .test_module_flow import CODE, OPTIONS, RIGHT, H, N

LINEAR = f"8 * {N} * {H} * {H}"  # 2 for each multiply-accumulate of hidden_size to 4 * hidden_size


def claim(**changed: str) -> Claim:
    """The right claim with other formulas of line 18, the linear layer after the loop over data."""
    first, loop, out = RIGHT["lines"]
    return Claim.model_validate({**RIGHT, "lines": [first, loop, {**out, **changed}]})


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> tuple[Entry, Entry]:
    """What runs say of the right claim, and what was derived without it."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("settle")
        patch.setattr("forwardbook.workspace.folder.shipped_path", lambda: None)
        patch.setattr("forwardbook.pipeline.agent.module.run_child", run_inside)
        patch.chdir(folder)
        Path("settle.py").write_text(CODE)
        check = Check(request_for(subject("settle.py:Settle"), OPTIONS), Limits())
        assert "" == asyncio.run(check(claim()))
        tried = attempt("settle.py:Settle", OPTIONS, Workspace.find(), Limits(), run=run_inside)
    assert isinstance(tried, Attempt) and tried.entry is not None and check.entry is not None
    assert tried.points  # a number of data was decided: a model may be asked
    return check.entry, tried.entry


def test_right_claim_agrees(known: tuple[Entry, Entry]) -> None:
    """Right formulas, in any form, are those that were derived; what data decides is left to measurement."""
    assert "" == parting(claim(), *known)
    assert "" == parting(claim(flops=f"2 * {N} * (4 * {H} * {H} + {H}) - 2 * {N} * {H}"), *known)


@pytest.mark.parametrize(
    ("quantity", "added"),
    [
        ("flops", "max(0, {seq_len} - 5000000)"),
        ("flops", "7 * floor({batch_size} / 1000000007)"),
        ("pointwise_ops", "max({hidden_size}, 99999999) - 99999999"),
        ("writes", "{seq_len} // 123456789 * {hidden_size}"),
    ],
)
def test_term_that_hides_is_found_without_running(
    known: tuple[Entry, Entry], quantity: str, added: str
) -> None:
    """A term that is zero wherever a class can be run is refused, with its line and both formulas."""
    right: Any = RIGHT["lines"][2][quantity]

    said = parting(claim(**{quantity: f"{right} + {added}"}), *known)

    assert f"line 18, {quantity}: " in said
    assert "was claimed" in said and "was derived" in said
    assert "both are what was measured, but they are not equal" in said


def test_derived_formula_is_named_as_it_stands(known: tuple[Entry, Entry]) -> None:
    """The refusal holds the formula that a hand finds: 8 * batch * length * hidden ** 2."""
    said = parting(claim(flops=f"{LINEAR} + floor({{seq_len}} / 123456789)"), *known)
    assert f"8 * {{batch_size}} * {{seq_len}} * {H} * {H} was derived" in said


def test_derivation_that_measurement_contradicts_says_nothing(known: tuple[Entry, Entry]) -> None:
    """Where a derived line is not what was measured, as after a wrongly decided branch, runs alone decide."""
    held, derived = known
    [*others, last] = derived.regimes[0].flop_analysis.lines
    wrong = last.model_copy(update={"flops": "3"})
    flops = derived.regimes[0].flop_analysis.model_copy(update={"lines": (*others, wrong)})
    regime = derived.regimes[0].model_copy(update={"flop_analysis": flops})

    assert "" == parting(claim(), held, derived.model_copy(update={"regimes": (regime,)}))


def test_nothing_derived_says_nothing(known: tuple[Entry, Entry]) -> None:
    """Of a class that cannot be derived at all, measurement decides as before."""
    assert "" == parting(claim(flops="0"), known[0], None)

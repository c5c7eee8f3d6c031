"""A record is read again before it is stored: what was written must say what was proved."""

from __future__ import annotations

from pathlib import Path

import pytest

from forwardbook.pipeline.derivation.reread import misread
from forwardbook.schema import Entry
from forwardbook.workspace.database_file import database_in

DATABASE = Path(__file__).parents[2] / "module_db.json"


@pytest.fixture(scope="module")
def entry() -> Entry:
    """A record in which all is well."""
    return database_in(DATABASE)["transformers_LlamaMLP"]


def with_flops(entry: Entry, **changes: object) -> Entry:
    """The record with other words in the first regime's account of FLOPs."""
    first, *rest = entry.regimes
    flops = first.flop_analysis.model_copy(update=changes)
    return entry.model_copy(update={"regimes": (first.model_copy(update={"flop_analysis": flops}), *rest)})


def test_a_sound_record_is_read_as_it_was_meant(entry: Entry) -> None:
    """Nothing is said of it."""
    assert [] == misread(entry)


def test_lines_that_do_not_add_up_are_told(entry: Entry) -> None:
    """A total that its lines do not make is named with its quantity."""
    flops = entry.regimes[0].flop_analysis.flops

    assert any("the flops of its lines" in said for said in misread(with_flops(entry, flops=f"{flops} + 1")))


def test_a_formula_that_cannot_be_read_is_told(entry: Entry) -> None:
    """What the grammar refuses is no formula."""
    said = misread(with_flops(entry, flops="2 *"))

    assert any("a formula cannot be read again" in one for one in said)


def test_a_point_that_breaks_a_condition_is_told(entry: Entry) -> None:
    """A regime whose own proof lies outside its conditions is not what was proved."""
    first = next(one for one in entry.regimes if one.proof is not None and one.proof.points)
    broken = first.model_copy(update={"conditions": ("{hidden_size} < 0",)})

    assert any("breaks" in said for said in misread(entry.model_copy(update={"regimes": (broken,)})))

"""What the page of a class depends on beneath it: the entries of the classes that it calls, and theirs."""

from __future__ import annotations

import pytest

from forwardbook.pipeline.site.beneath import Beneath, called_classes
from forwardbook.schema import CodeLocation, Entry, FlopAnalysis, MemoryAnalysis, Regime, SubmoduleCall
from forwardbook.workspace import Database, DatabaseError

NAMES = ("A", "B", "C")


def database(flops: str = "1", **more: str) -> Database:
    """A calls B, B calls C, C calls A; C has so many flops, and may be the same as another."""
    entries = {}
    for name, called in zip(NAMES, ("B", "C", "A"), strict=True):
        zero = dict.fromkeys(("reads", "writes", "weights", "boundary", "intermediates", "peak"), "0")
        call = SubmoduleCall(line=1, attribute="x", class_name=f"toy.{called}")
        analysis = FlopAnalysis(
            flops=flops if name == "C" else "0", pointwise_ops="0", submodule_calls=(call,)
        )
        regime = Regime(
            name="default", flop_analysis=analysis, memory_analysis=MemoryAnalysis.model_validate(zero)
        )
        entries[f"toy_{name}"] = Entry(
            full_class_name=f"toy.{name}",
            library="toy",
            code_location=CodeLocation(file="toy.py", line_start=1, line_end=2),
            source_hash="",
            regimes=() if name in more else (regime,),
            same_as=more.get(name),
        )
    return Database({key: entry.model_dump(mode="json") for key, entry in entries.items()})


def test_a_page_depends_on_all_that_is_beneath_it() -> None:
    """Another formula two calls beneath changes the stamps of a class; a circle of calls ends."""
    before, after = database("1"), database("2")

    assert ["toy.B"] == list(called_classes(before.raw("toy_A")))
    first, second, third = (
        Beneath(one).stamps("toy_A", one.raw("toy_A")) for one in (before, database("1"), after)
    )
    assert len(first) == 3
    assert first == second
    assert first != third


def test_the_entry_of_a_called_class_has_its_formulas() -> None:
    """It is the one that `same_as` leads to; a class that is not in the database has none."""
    found = Beneath(database(B="toy_C"))

    assert (entry := found.entry("toy.B")) is not None and entry.full_class_name == "toy.C"
    assert found.entry("toy.D") is None


@pytest.mark.parametrize("regimes", [5, [1], [{"flop_analysis": [1]}]])
def test_an_entry_of_another_shape_is_named(regimes: object) -> None:
    """Stamps are told from entries that are not validated; one that cannot be read is refused by its key."""
    found = database()
    spoilt = Database(
        {**{key: found.raw(key) for key in found}, "toy_C": found.raw("toy_C") | {"regimes": regimes}}
    )

    with pytest.raises(DatabaseError, match="entry toy_C .*\n  regimes"):
        Beneath(spoilt).stamps("toy_A", spoilt.raw("toy_A"))

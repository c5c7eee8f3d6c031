"""What the database says of a library is counted, beside what a catalogue says; the site shows the same."""

import json
import tomllib
from collections import Counter
from collections.abc import Callable
from fnmatch import fnmatch
from pathlib import Path

import pytest

import forwardbook
from forwardbook.book.site.catalogue_page import catalogue_row, coverage_page
from forwardbook.pipeline.catalogue.coverage_of_database import Stored, coverage_with
from forwardbook.pipeline.catalogue.record import (
    Catalogue,
    ClassResult,
    LibraryRecord,
    UnitRecord,
    known_catalogue,
)
from forwardbook.pipeline.site.coverage import refuted, site_coverage
from forwardbook.schema import Entry, Parameter, Validation
from forwardbook.workspace import Database, DatabaseError, Workspace

ROOT = Path(__file__).resolve().parents[2]
Make = Callable[..., Entry]
NAMES = ("batch_size", "seq_len", "hidden_size", "num_heads", "window", "chunk_size", "a_dtype_bytes")
EXPLAINED = tuple(Parameter(name=name, source="config") for name in (*NAMES, "text_config.kv_len"))


def _catalogue(*states: str) -> Catalogue:
    classes = tuple(
        ClassResult(name=f"toy.layers.C{place}", state=state, kind="forward", reason="it is blue")  # type: ignore[arg-type]
        for place, state in enumerate(states)
    )
    unit = UnitRecord(stamp="", classes=classes)
    return Catalogue(libraries={"toy": LibraryRecord(units={"toy.layers": unit})})


def _stored(entry: Entry) -> Stored:
    stored, raw = Stored(), entry.model_dump(mode="json")
    stored.add("toy_C0", raw, raw)
    return stored


def test_a_symbol_that_nothing_explains_is_counted(make_entry: Make) -> None:
    """A formula with a name that is no parameter, or has neither source nor meaning, is nameless."""
    explained = make_entry(parameters=EXPLAINED)
    missing = make_entry(parameters=tuple(one for one in EXPLAINED if one.name != "chunk_size"))
    empty = make_entry(parameters=(*EXPLAINED[:-1], Parameter(name="text_config.kv_len")))

    counts = [_stored(one).nameless for one in (explained, missing, empty)]

    assert [0, 2, 2] == counts
    assert 16 == _stored(explained).formulas


@pytest.mark.parametrize("name", ["s0", "u3", "x12"])
def test_names_that_engines_make_up_are_no_names(make_entry: Make, name: str) -> None:
    """A meaning does not make `s0` a name."""
    entry = make_entry()
    flops = entry.regimes[0].flop_analysis.model_copy(update={"flops": f"2 * {{{name}}}"})
    regime = entry.regimes[0].model_copy(update={"flop_analysis": flops})
    known = (*EXPLAINED, Parameter(name=name, meaning="a size"))

    stored = _stored(entry.model_copy(update={"regimes": (regime,), "parameters": known}))

    assert (1, [f"toy_C0: {name}"]) == (stored.nameless, stored.examples)


def test_how_exact_classes_were_derived_is_counted(make_entry: Make) -> None:
    """Of a catalogue's exact classes: by both derivations, by one alone; a copy counts as its holder."""
    entries = {
        "toy_C0": make_entry("C0"),
        "toy_C1": make_entry("C1", derived_by=("symbolic",)),
        "toy_C2": make_entry("C2", same_as="toy_C0", regimes=(), derived_by=()),
    }
    database = Database({key: entry.model_dump(mode="json") for key, entry in entries.items()})

    [one] = coverage_with(_catalogue("exact", "exact", "exact", "unreached"), database)

    assert (4, 3, 3) == (one.found, one.reached, one.exact)
    assert (2, 1, 0) == (one.both, one.symbolic_alone, one.static_alone)


def test_the_site_shows_the_same_numbers() -> None:
    """The page has a row for each library and its reasons; without a catalogue it has neither."""
    figures = site_coverage(_catalogue("exact", "unproved", "unreached"), {})
    page = coverage_page((), (), figures=figures).markdown()

    assert "| toy | 3 | 0 | 2 | 1 | 0 | 0 | 0 | 0 | 1 | 50.0 % |" in page
    assert "it is blue" in page
    assert "not exact because" not in coverage_page((), ()).markdown()


def test_a_withdrawn_entry_and_another_verdict_count_as_what_they_are_now(make_entry: Make) -> None:
    """Of three classes that were exact, one is pinned since and one has no entry: it is refuted."""
    entries = {
        "toy_C0": make_entry("C0"),
        "toy_C1": make_entry("C1", validation=Validation(verdict="pinned", reason="one number")),
    }
    database = Database({key: entry.model_dump(mode="json") for key, entry in entries.items()})

    [one] = coverage_with(_catalogue("exact", "exact", "exact", "wrong", "unproved"), database)

    assert (5, 1, 1, 2, 1) == (one.found, one.exact, one.pinned, one.wrong, one.unproved)


def test_refuted_classes_without_an_entry_are_wrong_on_the_site(make_entry: Make) -> None:
    """The table of verdicts counts them, though no row of the database has that verdict."""
    entry = make_entry("C0").model_dump(mode="json")
    stored = Stored()
    stored.add("toy_C0", entry, entry)
    counts = refuted(_catalogue("exact", "wrong", "wrong"), {"toy": stored})

    page = coverage_page((catalogue_row("toy_C0", entry, entry),), (), counts).markdown()

    assert {"toy": 2} == counts
    assert "| toy | 1 | 1 | 0 | 0 | 0 | 0 | 2 |" in page


def test_an_empty_workspace_has_the_catalogue_that_the_package_came_with(tmp_path: Path) -> None:
    """Whoever installed it sees the figures of a clone: refuted classes, and those nobody reached."""
    shipped = json.loads((ROOT / "catalogue.json").read_text())["libraries"]
    known = known_catalogue(Workspace(tmp_path))

    assert shipped.keys() == known.libraries.keys()
    for name, library in known.libraries.items():
        raw = [one for unit in shipped[name]["units"].values() for one in unit["classes"]]
        classes = [one for unit in library.units.values() for one in unit.classes]
        assert Counter(one["state"] for one in raw) == Counter(one.state for one in classes)
    data = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]["*"]
    place = Path(forwardbook.__file__).parent / "catalogue.json"
    assert any(fnmatch(place.name, pattern) for pattern in data)
    assert place.resolve() == (ROOT / "catalogue.json").resolve()


@pytest.mark.parametrize(
    ("field", "value"),
    [("regimes", 5), ("regimes", [1]), ("validation", "exact"), ("parameters", [1]), ("derived_by", 3)],
)
def test_an_entry_of_another_shape_is_named(make_entry: Make, field: str, value: object) -> None:
    """Coverage reads entries without validating them; one that it cannot read is refused by its field."""
    database = Database({"toy_C0": make_entry("C0").model_dump(mode="json") | {field: value}})

    with pytest.raises(DatabaseError, match=f"entry toy_C0 .*\n  {field}"):
        coverage_with(Catalogue(), database)

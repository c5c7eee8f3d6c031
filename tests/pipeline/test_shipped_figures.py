"""The figures of what is shipped stand in one place, and are those of the catalogue and the database."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path

import pytest

from forwardbook.pipeline.catalogue.coverage import Share
from forwardbook.pipeline.catalogue.coverage_of_database import WITHDRAWN, coverage_with
from forwardbook.pipeline.catalogue.record import known_catalogue
from forwardbook.workspace import Workspace

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.fixture(scope="module")
def shares() -> list[Share]:
    """What `forwardbook coverage` counts."""
    workspace = Workspace(ROOT)
    return coverage_with(known_catalogue(workspace), workspace.load())


def test_the_page_has_the_figures_of_the_command(shares: list[Share]) -> None:
    """`python docs/fill_coverage.py` changes nothing: it writes what `forwardbook coverage` counts."""
    place = ROOT / "docs" / "fill_coverage.py"
    spec = importlib.util.spec_from_file_location("fill_coverage", place)
    assert spec is not None and spec.loader is not None
    fill = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(fill)
    text = fill.PAGE.read_text(encoding="utf-8")

    assert text == fill.filled(text, fill.figures(shares, known_catalogue(Workspace(ROOT))))


def test_refuted_classes_are_counted_as_wrong(shares: list[Share]) -> None:
    """What catalogue.json calls wrong, and what was proved there and has no entry, are all of them."""
    known = Workspace(ROOT).load().keys_by_class()
    libraries = json.loads((ROOT / "catalogue.json").read_text())["libraries"]
    for one in shares:
        classes = [each for unit in libraries[one.library]["units"].values() for each in unit["classes"]]
        refuted = [each for each in classes if each["state"] == "wrong"]
        proved = [each for each in classes if each["state"] in ("exact", "bounded", "assumed", "pinned")]
        gone = sum(each["name"] not in known for each in proved)
        assert one.wrong >= len(refuted) + gone > 0
        assert gone == sum(each.classes for each in one.reasons if each.reason == WITHDRAWN)


def test_no_other_page_counts_model_types() -> None:
    """A number of model types stands in the table alone: others refer to it."""
    found = [
        f"{path.name}: {hit}"
        for path in PAGES
        for hit in re.findall(
            r"\d[\d,]*(?: of (?:its )?[\d,]+)? (?:model types|types of transformers)",
            re.sub(r"<!-- coverage:.*?<!-- /coverage -->", "", path.read_text(encoding="utf-8"), flags=re.S),
        )
    ]

    assert [] == found

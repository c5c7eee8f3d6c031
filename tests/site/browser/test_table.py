"""The catalogue's filters and orders, and how long they take over three thousand classes."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.site.browser.engine import Scripts

COLUMNS = [
    "key",
    "name",
    "page",
    "library",
    "verdict",
    "derived_by",
    "ops",
    "regimes",
    "unresolved",
    "validated",
]
OPS = ["aten.addmm", "aten.bmm", "aten.mm"]


def index(count: int) -> dict[str, Any]:
    """An index of so many classes."""
    draw = random.Random(6)
    rows = [
        [
            f"lib_{place}",
            f"lib.part.Class{place}",
            f"modules/{place}.html",
            draw.choice(("torch", "timm")),
            draw.choice(("exact", "bounded", "unproved")),
            draw.choice(([], ["symbolic"], ["symbolic", "static"])),
            sorted(draw.sample(range(3), draw.randint(0, 3))),
            draw.randint(0, 40),
            draw.randint(0, 2),
            draw.random() < 0.1,
        ]
        for place in range(count)
    ]
    return {"columns": COLUMNS, "ops": OPS, "rows": rows}


def test_filters_leave_what_they_ask_for(scripts: Scripts) -> None:
    """Every filter, alone and together, leaves the rows that a person would count."""
    made = index(300)
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in made["rows"]]
    expected = {
        ("library", "timm"): [r for r in rows if r["library"] == "timm"],
        ("verdict", "exact"): [r for r in rows if r["verdict"] == "exact"],
        ("derivation", "static"): [r for r in rows if "static" in r["derived_by"]],
        ("op", "aten.bmm"): [r for r in rows if 1 in r["ops"]],
        ("op", "aten"): [r for r in rows if r["ops"]],
        ("open", "1"): [r for r in rows if r["unresolved"]],
        ("validated", "1"): [r for r in rows if r["validated"]],
        ("text", "class29 LIB"): [r for r in rows if "Class29" in r["name"]],
        ("text", ""): rows,
    }
    cases = [
        {"index": made, "asked": {name: wanted}, "column": "key", "falling": False}
        for name, wanted in expected
    ]
    found = scripts.each("table", cases)

    assert [sorted(keys) for keys in found] == [sorted(r["key"] for r in each) for each in expected.values()]


def test_rows_are_sorted_both_ways(scripts: Scripts) -> None:
    """Numbers sort as numbers, names with numbers in them as people count."""
    made = index(30)
    up, down, names = scripts.each(
        "table",
        [
            {"index": made, "asked": {}, "column": "regimes", "falling": False},
            {"index": made, "asked": {}, "column": "regimes", "falling": True},
            {"index": made, "asked": {}, "column": "title", "falling": False},
        ],
    )
    regimes = {row[0]: row[7] for row in made["rows"]}

    assert [regimes[key] for key in up] == sorted(regimes.values())
    assert [regimes[key] for key in down] == sorted(regimes.values(), reverse=True)
    assert names == [f"lib_{place}" for place in range(30)]


def test_three_thousand_classes_are_filtered_and_sorted_at_once(scripts: Scripts, a_second: float) -> None:
    """Reading, filtering and sorting three thousand classes takes less than a second, transport included."""
    case = {
        "index": index(3000),
        "asked": {"text": "class1", "library": "timm"},
        "column": "regimes",
        "falling": True,
    }
    begun = time.process_time()
    [found] = scripts.each("table", [case])

    assert len(found) > 300
    assert time.process_time() - begun < a_second

"""The page of a notebook: its headings, and its cells of code in order, without their output."""

from __future__ import annotations

import ast
import json
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from forwardbook.book.blocks import Block, Code, Details, Paragraph, Table
from forwardbook.book.inline import clip, code, plain
from forwardbook.book.pages.section import SectionFacts, section, table

_SHOWN = 30


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: its number, its kind and its text."""

    number: int
    kind: str
    text: str


def cells(data: bytes) -> tuple[Cell, ...]:
    """The cells of a notebook; none where it is no notebook."""
    try:
        found = json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return ()
    listed = found.get("cells") if isinstance(found, dict) else None
    return tuple(_cells(listed)) if isinstance(listed, list) else ()


def _cells(listed: list[object]) -> Iterator[Cell]:
    for number, each in enumerate(listed, 1):
        if isinstance(each, dict):
            cell = cast("dict[str, object]", each)
            source = cell.get("source", "")
            text = "".join(map(str, source)) if isinstance(source, list) else str(source)
            yield Cell(number, str(cell.get("cell_type", "")), text)


def notebook_summary(facts: SectionFacts) -> tuple[Block, ...]:
    """The first heading of the notebook, and how its cells are numbered."""
    found = cells(facts.data)
    titles = [line.lstrip("# ") for each in found if each.kind == "markdown" for line in each.text.split("\n")
              if line.startswith("#")]  # fmt: skip
    about = f" Its first heading reads “{plain(clip(titles[0], 160))}”." if titles else ""
    return section("Summary", [Paragraph(f"A Jupyter notebook; outputs are left out.{about}")])


def notebook_cells(facts: SectionFacts) -> tuple[Block, ...]:
    """An outline of all cells, then the code."""
    found = cells(facts.data)
    if not found:
        return section(
            "Cells", [Paragraph("No cell could be read: the file is not valid JSON or has no cells.")]
        )
    rows = [(str(each.number), plain(each.kind), plain(clip(each.text.lstrip("# \n").split("\n")[0], 80)))
            for each in found]  # fmt: skip
    blocks: list[Block] = [*table(("Cell", "Kind", "First line"), rows, "Outline")]
    for each in [one for one in found if one.kind == "code" and one.text.strip()][:_SHOWN]:
        blocks.append(
            Details(f"Cell {each.number}", (Code("python" if _parses(each.text) else "text", each.text),))
        )
    return section("Cells", blocks)


def notebook_metadata(facts: SectionFacts) -> tuple[Block, ...]:
    """Path and type."""
    rows = (("Path", code(facts.path)), ("Type", "Jupyter notebook"), ("Cells", str(len(cells(facts.data)))))
    return section("Metadata", (Table(("Property", "Value"), rows),))


def _parses(text: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
    return True

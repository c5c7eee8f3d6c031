"""Raw entries in; the catalogue and its index, a page for each library, and the page of holes out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, cast

from forwardbook.book.blocks import Block, Bullets, Code, Heading, Paragraph, Table
from forwardbook.book.inline import code, link, plain
from forwardbook.book.page import Page
from forwardbook.book.site.coverage_figures import Figures, figures_blocks
from forwardbook.book.site.data import Catalogue, CatalogueIndex, CatalogueRow
from forwardbook.book.site.module_page import page_stem

Raw = Mapping[str, object]
COLUMNS: Final = tuple(CatalogueRow.model_fields)


def catalogue_row(key: str, raw: Raw, holder: Raw) -> CatalogueRow:
    """The row of an entry; `holder` is the entry that has its formulas."""
    regimes = _list(holder, "regimes")
    ops = {
        str(name).partition(" ")[0]
        for regime in regimes
        for line in _list(_dict(regime, "flop_analysis"), "lines")
        for name in cast("list[str]", line.get("operations") or [])
    }
    validation = _dict(raw, "validation")
    name = str(raw.get("full_class_name", ""))
    return CatalogueRow(
        key=key,
        name=name,
        page=f"modules/{page_stem(key)}.html",
        library=str(raw.get("library", "")),
        verdict=str(validation.get("verdict", "unproved")),
        derived_by=tuple(cast("list[str]", raw.get("derived_by") or [])),
        ops=tuple(sorted(ops)),
        regimes=len(regimes),
        unresolved=len(_list(raw, "unresolved")),
        validated=bool(validation.get("human_validated")),
    )


def catalogue_index(rows: Sequence[CatalogueRow]) -> CatalogueIndex:
    """The rows as lists in the order of COLUMNS; operations as places in one list of all of them."""
    ops = sorted({name for row in rows for name in row.ops})
    places = {name: place for place, name in enumerate(ops)}
    return CatalogueIndex(
        columns=COLUMNS,
        ops=tuple(ops),
        rows=tuple(
            tuple(
                tuple(places[name] for name in row.ops) if column == "ops" else getattr(row, column)
                for column in COLUMNS
            )
            for row in rows
        ),
    )


def catalogue_page(rows: Sequence[CatalogueRow]) -> Page:
    """The page with the filterable table."""
    verdicts = Counter(row.verdict for row in rows)
    data = Catalogue(total=len(rows), verdicts=dict(sorted(verdicts.items())))
    libraries = Counter(row.library for row in rows)
    return Page(
        "catalogue.md",
        {"title": "Every class"},
        (
            Heading(1, "Every class"),
            Paragraph(
                "Each row is a class whose forward() was read: what the measurement said of its formulas, "
                "how they were found, and which operations it issues. "
                f"{link('Holes', 'coverage.md')} are listed apart."
            ),
            Code("fb-catalogue", data.as_json()),
            Heading(2, "By library"),
            Bullets(
                tuple(
                    f"{link(plain(name or 'without a library'), library_name(name))}: {count} classes"
                    for name, count in sorted(libraries.items())
                )
            ),
        ),
    )


def library_name(library: str) -> str:
    """The file of a library's page."""
    return f"modules/index-{page_stem(library)}.md"


def library_page(library: str, rows: Sequence[CatalogueRow]) -> Page:
    """All classes of a library, by module, for readers without scripts."""
    by_module: dict[str, list[CatalogueRow]] = {}
    for row in rows:
        by_module.setdefault(row.name.rpartition(".")[0], []).append(row)
    blocks: list[Block] = [Heading(1, plain(library)), Paragraph(link("Catalogue", "../catalogue.md"))]
    for module, found in sorted(by_module.items()):
        blocks.append(Paragraph(f"**{plain(module)}**: {', '.join(_linked(row) for row in found)}"))
    return Page(library_name(library), {"search": {"exclude": "true"}}, tuple(blocks))


def coverage_page(
    rows: Sequence[CatalogueRow],
    holes: Sequence[tuple[str, Raw]],
    refuted: Mapping[str, int] = MappingProxyType({}),
    figures: Sequence[Figures] = (),
) -> Page:
    """How much is covered, and every hole: what is unresolved, unproved, or refuted.

    `refuted` counts the classes of each library that are, also those that have no entry.
    """
    blocks = (*_coverage(rows, holes, refuted), *figures_blocks(figures))
    return Page("coverage.md", {"title": "Coverage and holes"}, blocks)


def _coverage(
    rows: Sequence[CatalogueRow], holes: Sequence[tuple[str, Raw]], refuted: Mapping[str, int]
) -> Iterator[Block]:
    yield Heading(1, "Coverage and holes")
    yield Paragraph("What is not known is listed here, and counted nowhere as zero.")
    verdicts = ("exact", "bounded", "assumed", "pinned", "unproved", "wrong")
    table = []
    for library in sorted({row.library for row in rows}):
        found = [row for row in rows if row.library == library]
        of = Counter(row.verdict for row in found)
        of["wrong"] = max(of["wrong"], refuted.get(library, 0))
        static = sum("static" in row.derived_by and "symbolic" in row.derived_by for row in found)
        agent = sum("agent" in row.derived_by for row in found)
        person = sum(row.validated for row in found)
        table.append(
            (
                plain(library),
                f"{len(found)}",
                *(f"{of[name]}" for name in verdicts),
                f"{static}",
                f"{agent}",
                f"{person}",
            )
        )
    head = (
        "Library",
        "Classes",
        "Exact",
        "Bounded",
        "Assumed",
        "Pinned",
        "Unproved",
        "Wrong",
        "Derived twice",
        "Analyst",
        "Person",
    )
    yield Table(head, tuple(table))
    yield Heading(2, "Not exact")
    unproved = [row for row in rows if row.verdict != "exact"]
    reasons = {key: str(_dict(raw, "validation").get("reason", "")) for key, raw in holes}
    if unproved:
        cells = tuple(
            (_linked(row, "modules/"), row.verdict, plain(reasons.get(row.key, ""))) for row in unproved
        )
        yield Table(("Class", "Verdict", "Reason"), cells)
    else:
        yield Paragraph("Nothing: the formulas of every class in the catalogue are exact.")
    yield Heading(2, "Unresolved operations")
    pages = {row.key: row for row in rows}
    lines = [
        (_linked(pages[key], "modules/"), code(f"{each.get('file')}:{each.get('line')}"),
         code(str(each.get("operation", ""))), plain(str(each.get("reason", ""))))
        for key, raw in holes for each in _list(raw, "unresolved")
    ]  # fmt: skip
    if lines:
        yield Table(("Class", "Place", "Operation", "Reason"), tuple(lines))
    else:
        yield Paragraph("None.")


def _linked(row: CatalogueRow, folder: str = "") -> str:
    return link(code(row.name.rpartition(".")[2] or row.key), f"{folder}{page_stem(row.key)}.md")


def _list(raw: Raw, name: str) -> list[Raw]:
    return cast("list[Raw]", raw.get(name) or [])


def _dict(raw: Raw, name: str) -> Raw:
    return cast("Raw", raw.get(name) or {})

"""The catalogue and the database of the checkout in; out the figures of docs/catalogue.md, between its marks.

python docs/fill_coverage.py
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from forwardbook.book.site.totals_page import TotalsRow
from forwardbook.pipeline.catalogue.coverage import Share
from forwardbook.pipeline.catalogue.coverage_of_database import coverage_with
from forwardbook.pipeline.catalogue.record import Catalogue, read_catalogue
from forwardbook.pipeline.site.coverage import site_totals
from forwardbook.workspace import Workspace

ROOT: Final = Path(__file__).resolve().parent.parent
PAGE: Final = ROOT / "docs" / "catalogue.md"
BEGIN: Final = "<!-- coverage: python docs/fill_coverage.py -->\n"
END: Final = "<!-- /coverage -->"
_BLOCK: Final = re.compile(f"(?<={re.escape(BEGIN)}).*?(?={re.escape(END)})", re.DOTALL)


def figures(shares: Sequence[Share], catalogue: Catalogue) -> str:
    """The table: a column for each library, a row for each figure."""
    totals = site_totals(catalogue)
    columns = [dict(_column(one, totals.get(one.library, []))) for one in shares]
    head = ("", *(f"{one.library} {one.version.partition('+')[0]}" for one in shares))
    rows = [(name, *(column.get(name, "") for column in columns)) for name in columns[0]]
    lines = [head, ("---", *("--:" for _ in columns)), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def filled(text: str, table: str) -> str:
    """The page with the table between its marks."""
    return _BLOCK.sub(lambda _: f"\n{table}\n", text)


def _column(one: Share, totals: list[TotalsRow]) -> Iterator[tuple[str, str]]:
    yield "classes found", f"{one.found:,}"
    yield "reached", f"{one.reached:,}"
    yield "exact", f"{one.exact:,} ({100 * one.exact / max(one.reached, 1):.1f} % of reached)"
    for name in ("bounded", "assumed", "pinned", "wrong", "unproved"):
        yield name, f"{getattr(one, name):,}"
    yield "derived in both ways", f"{one.both:,}"
    yield "copies of another entry", f"{one.sharing:,}"
    yield "formulas", f"{one.formulas:,}"
    yield "with a symbol that nothing explains", f"{one.nameless:,}"
    ran = [row for row in totals if row.measured]
    yield (
        "model types called",
        f"{one.model_types_reached:,} of {one.model_types:,}" if one.model_types else "",
    )
    yield "model types whose totals were taken", f"{len(ran):,} of {len(totals):,}" if totals else ""
    yield "with accounts that all agree", f"{sum(row.agrees for row in ran):,}" if totals else ""
    calls, equal = sum(row.calls for row in ran), sum(row.equal for row in ran)
    yield "calls in them that a regime claims, and equal", f"{calls:,}, {equal:,}" if totals else ""


if __name__ == "__main__":
    workspace = Workspace(ROOT)
    known = read_catalogue(workspace)
    made = figures(coverage_with(known, workspace.load()), known)
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), made), encoding="utf-8")

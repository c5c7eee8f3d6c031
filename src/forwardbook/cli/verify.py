"""`forwardbook verify` and `forwardbook score`: pages and a root in, what holds of them out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forwardbook.cli.exit_codes import REFUSED
from forwardbook.cli.printing import put, say

if TYPE_CHECKING:
    from rich.console import RenderableType

    from forwardbook.book.verify.score import Score
    from forwardbook.pipeline.explain.verify_pages import Judged

Pages = Annotated[list[Path], typer.Argument(metavar="PAGE...", help="Markdown files, or folders of them.")]
Root = Annotated[
    Path | None,
    typer.Option(
        "--root",
        metavar="DIR",
        help="The folder that the pages tell of; by default this one or one above them that has their files.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]


def verify(
    pages: Pages,
    root: Root = None,
    as_json: AsJson = False,
    show_all: Annotated[bool, typer.Option("--all", help="Print the unverified claims too.")] = False,
) -> None:
    """Hold every claim of Markdown pages against the source; exit 1 if any is contradicted or stale."""
    from forwardbook.pipeline.explain.verify_pages import verify_pages

    wrong = False
    found: list[Judged] = []
    for judged in verify_pages(tuple(pages), root):
        wrong = wrong or any(claim.state in ("contradicted", "stale") for claim in judged.claims)
        if as_json:
            found.append(judged)
        else:
            _tell(judged, show_all)
    if as_json:
        _print_json(found)
    if wrong:
        raise typer.Exit(REFUSED)


def score(pages: Pages, root: Root = None, as_json: AsJson = False) -> None:
    """Tell which share of each kind of claim holds, for pages of any origin."""
    import json
    from dataclasses import asdict

    from forwardbook.book.verify.score import scores
    from forwardbook.pipeline.explain.verify_pages import verify_pages

    judged = list(verify_pages(tuple(pages), root))
    lines = sum(one.lines for one in judged)
    rows = scores(claim for one in judged for claim in one.claims)
    if as_json:
        kinds = {row.kind: {**asdict(row), "truth": row.truth, "checked": row.checked} for row in rows}
        put(json.dumps({"pages": len(judged), "lines": lines, "kinds": kinds}, indent=1))
        return
    from forwardbook.cli.terminal import console

    console().print(_score_view(rows, len(judged), lines))


def _tell(judged: Judged, show_all: bool) -> None:
    """The claims that do not hold on standard output, the page's figures beside it."""
    from collections import Counter

    shown = ("contradicted", "stale", "unverified") if show_all else ("contradicted", "stale")
    for claim in judged.claims:
        if claim.state in shown:
            source = f" ({claim.file})" if claim.file and claim.file not in claim.message() else ""
            put(claim.message() + source)
    counts: Counter[str] = Counter(claim.state for claim in judged.claims)
    states = ("supported", "contradicted", "stale", "unverified")
    figures = ", ".join(f"{counts[state]} {state}" for state in states if counts[state])
    say(f"{judged.page}: {figures or 'no claims'}")


def _print_json(found: list[Judged]) -> None:
    import json
    from dataclasses import asdict

    pages = [{"page": one.page, "claims": [asdict(claim) for claim in one.claims]} for one in found]
    put(json.dumps(pages, indent=1, ensure_ascii=False))


def _score_view(rows: tuple[Score, ...], pages: int, lines: int) -> RenderableType:
    from rich.table import Table

    table = Table("check", "supported", "contradicted", "stale", "unverified", "holds", "decided")
    for row in rows:
        counts = (row.supported, row.contradicted, row.stale, row.unverified)
        table.add_row(row.kind, *(str(count) for count in counts), _share(row.truth), _share(row.checked))
    claims = rows[-1].total
    table.caption = f"{pages} pages, {lines} lines, {claims} claims, {100 * claims / lines:.0f} per 100 lines"
    return table


def _share(share: float | None) -> str:
    """A share in percent; 100 and 0 only where it is exactly that."""
    if share is None:
        return "-"
    return f"{100 * share:.0f} %" if share in (0, 1) else f"{min(max(100 * share, 0.1), 99.9):.1f} %"

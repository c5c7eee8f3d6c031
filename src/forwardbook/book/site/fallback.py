"""What a page shows before a script runs, or where none may: the data of a fence in, HTML tables out."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from forwardbook.book.site.data import Calculator, Catalogue, Grid, Listing, Roofline


def calculator_table(data: Calculator) -> str:
    """The results at the default values, and these values."""
    if not data.expected:
        return "<p>No regime holds at the values that the page begins with.</p>"
    values = ", ".join(f"{each.name} = {each.default}" for each in data.inputs)
    rows = [(each.name, data.expected[each.name], each.unit) for each in data.quantities]
    return f"<p>At {escape(values)}:</p>{_table(('quantity', 'amount', 'unit'), rows)}"


def listing_table(data: Listing) -> str:
    """Each line with its number, and the formulas of the first regime in which it costs something."""
    rows = []
    for line in data.lines:
        costs = next((costs for costs in line.regimes.values() if costs), {})
        amounts = "<br>".join(f"{escape(name)}: {escape(_bare(text))}" for name, text in costs.items())
        rows.append(
            f"<tr><td>{line.number}</td><td><code>{escape(line.code)}</code></td><td>{amounts}</td></tr>"
        )
    head = "<thead><tr><th>line</th><th>source</th><th>cost</th></tr></thead>"
    return f"<table>{head}<tbody>{''.join(rows)}</tbody></table>"


def catalogue_words(data: Catalogue) -> str:
    """How many classes there are of each verdict."""
    counts = ", ".join(f"{count} {verdict}" for verdict, count in data.verdicts.items())
    return f"<p>{data.total} classes: {escape(counts)}.</p>"


def roofline_table(data: Roofline) -> str:
    """The work of each point."""
    rows = [(point.name, point.flops, point.bytes) for point in data.points]
    return _table(("call", "flops", "bytes"), rows)


def grid_table(data: Grid) -> str:
    """A table whose first column names its rows."""
    top = "".join(f"<th>{escape(cell)}</th>" for cell in data.head)
    body = "".join(
        f'<tr><th scope="row">{escape(first)}</th>{"".join(f"<td>{escape(cell)}</td>" for cell in rest)}</tr>'
        for first, *rest in data.rows
    )
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def _bare(formula: str) -> str:
    return formula.replace("{", "").replace("}", "")


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"

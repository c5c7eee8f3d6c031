"""A catalogue and what was collected of the database in; figures and totals of libraries for the site out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from forwardbook.book.site.coverage_figures import Figures, Hindrance
from forwardbook.book.site.totals_page import TotalsRow
from forwardbook.pipeline.catalogue.coverage import Share, coverage
from forwardbook.pipeline.catalogue.coverage_of_database import Stored, as_stored, with_stored
from forwardbook.pipeline.catalogue.record import Catalogue, ModelTotals

REASONS: Final = 40  # of each library, those that touch most classes


def site_coverage(catalogue: Catalogue, stored: Mapping[str, Stored]) -> list[Figures]:
    """The figures of every library that a catalogue was built of."""
    shares = coverage(as_stored(catalogue, stored))
    return [_figures(with_stored(one, stored.get(one.library, Stored()))) for one in shares]


def refuted(catalogue: Catalogue, stored: Mapping[str, Stored]) -> dict[str, int]:
    """How many classes of each library are refuted, those that are not stored too."""
    return {one.library: one.wrong for one in coverage(as_stored(catalogue, stored))}


def site_totals(catalogue: Catalogue) -> dict[str, list[TotalsRow]]:
    """The rows of every library with totals of model types."""
    return {name: _rows(library.totals) for name, library in catalogue.libraries.items() if library.totals}


def _rows(totals: Mapping[str, ModelTotals]) -> list[TotalsRow]:
    return [
        TotalsRow(name, one.model, one.calls, one.equal, one.measured, one.formula, one.tree, one.problem)
        for name, one in sorted(totals.items())
    ]


def _figures(one: Share) -> Figures:
    exact = f"{100 * one.exact / one.reached:.1f} %" if one.reached else ""
    nameless = f"{100 * one.nameless / one.formulas:.2f} %" if one.formulas else ""
    types = f"{one.model_types_reached} of {one.model_types}" if one.model_types else ""
    counts = {
        "Found": one.found,
        "Not tried yet": one.untried,
        "Reached": one.reached,
        "Exact": one.exact,
        "Bounded": one.bounded,
        "Assumed": one.assumed,
        "Pinned": one.pinned,
        "Wrong": one.wrong,
        "Unproved": one.unproved,
        "Exact of reached": exact,
        "Derived twice": one.both,
        "Read alone": one.static_alone,
        "Copies": one.sharing,
        "Model types that ran": types,
        "Formulas with an unexplained symbol": nameless,
    }
    hindrances = tuple(
        Hindrance(
            f"{each.state}, {each.kind}: {each.reason}" if each.kind else f"{each.state}: {each.reason}",
            each.classes,
            each.place,
            each.example,
        )
        for each in one.reasons[:REASONS]
    )
    told = tuple((name, str(value)) for name, value in counts.items())
    return Figures(f"{one.library} {one.version}".strip(), told, hindrances)

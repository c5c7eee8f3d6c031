"""Plans, results and figures of the catalogue in, what a person sees of them out."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from forwardbook.cli.printing import say
from forwardbook.pipeline.catalogue.coverage import STATES, Reason, Share, share
from forwardbook.pipeline.catalogue.record import LibraryRecord, ModelTotals, UnitResult

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

    from forwardbook.pipeline.catalogue.build import Done
    from forwardbook.pipeline.catalogue.plan import Plan

SHOWN: Final = 12
"""Reasons of failure in a summary."""
_ALL: Final = (*STATES, "unreached")
_NUMBERS: Final = (
    *("found", "reached", "classes", "sharing", "of reached exact"),
    *("calls", "equal", "flops", "by formula", "over the tree"),
)


class Progress:
    """A bar with the counts of verdicts on a terminal of standard error; else a line for each unit."""

    def __init__(self, total: int) -> None:
        self._total, self._done = total, 0
        self._counts: Counter[str] = Counter()
        self._bar: Bar | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Progress:
        if sys.stderr.isatty():
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
            from rich.progress import Progress as Bar

            columns = (
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
            )
            from forwardbook.cli.terminal import console

            self._bar = Bar(*columns, console=console(stderr=True))
            self._bar.start()
            self._task = self._bar.add_task("reading", total=self._total)
        return self

    def __exit__(self, *exc: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def started(self, unit: str) -> None:
        """A unit is being worked on."""
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, description=f"{_counted(self._counts)}  {unit}")

    def done(self, one: Done) -> None:
        """A unit is done."""
        self._done += 1
        mine: Counter[str] = Counter(result.state for result in one.result.record.classes)
        self._counts.update(mine)
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, description=_counted(self._counts), completed=self._done)
        elif not one.known:
            spent = one.result.spent
            say(
                f"{self._done}/{self._total} {one.result.unit}: {_counted(mine)}, "
                f"{spent.processor:.0f} s of processor, {spent.megabytes:.0f} MB",
            )


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{counts[name]} {name}" for name in _ALL if counts[name]) or "nothing yet"


def plan_view(plan: Plan) -> RenderableType:
    """The units of a plan, each with how many classes it has."""
    table = _table(("unit", "classes", "with a forward() of their own"))
    for unit in plan.units:
        own = sum(one.defines for one in unit.classes)
        table.add_row(unit.name, str(len(unit.classes)), str(own))
    total = sum(len(unit.classes) for unit in plan.units)
    return Group(table, Text(f"{total} classes in {len(plan.units)} units of {plan.library} {plan.version}"))


def summary_view(library: str, results: Sequence[UnitResult]) -> RenderableType:
    """Verdicts and reasons of what a build looked at."""
    record = LibraryRecord(units={one.unit: one.record for one in results})
    return coverage_view([share(library, record)], SHOWN)


def coverage_view(shares: Sequence[Share], most: int) -> RenderableType:
    """The figures of libraries as a table, then of each the reasons that touch most classes."""
    table = _table(("library", "found", "reached", *STATES, "of reached exact", "sharing"))
    for one in shares:
        exact = f"{100 * one.exact / one.reached:.1f} %" if one.reached else "-"
        counts = (one.found, one.reached, *(getattr(one, state) for state in STATES))
        name = f"{one.library} {one.version}".strip()
        table.add_row(name, *map(str, counts), exact, str(one.sharing))
    parts: list[RenderableType] = [table]
    for one in shares:
        if one.untried:
            parts += ["", Text(f"{one.library}: {one.untried} of {one.found} classes were not tried yet")]
        if one.formulas:  # what a build has just looked at is told without its entries
            parts += ["", Text(_derived(one))]
        if one.model_types:
            told = f"{one.library}: {one.model_types_reached} of {one.model_types} model types ran"
            parts += ["", Text(told)]
        if one.reasons and most:
            parts += ["", _reasons(one, most)]
    return Group(*parts)


def totals_view(found: Mapping[str, ModelTotals]) -> RenderableType:
    """Each model type: floating-point operations and bytes moved, measured, by its formula, over its tree."""
    table = _table(
        ("model type", "model", "calls", "equal", "flops", "by formula", "over the tree", "agrees")
    )
    for name, one in sorted(found.items()):
        flops = (f"{part['flops']:,}" if part else "-" for part in (one.measured, one.formula, one.tree))
        said = "yes" if one.agrees else one.problem or _disagreement(one)
        table.add_row(name, one.model, str(one.calls), str(one.equal), *flops, said)
    return table


def _disagreement(one: ModelTotals) -> str:
    if not one.calls:
        return "no entry speaks of it"
    return f"no: {', '.join(one.unequal) or 'the sums'}"


def _derived(one: Share) -> str:
    """How exact classes were derived, and what share of formulas has a symbol that nothing explains."""
    ways = [
        f"{count} {how}"
        for count, how in (
            (one.both, "by symbolic execution and by reading alike"),
            (one.symbolic_alone, "by symbolic execution alone"),
            (one.static_alone, "by reading alone"),
            (one.analyst, "by an analyst"),
        )
        if count
    ]
    share = 100 * one.nameless / one.formulas if one.formulas else 0.0
    names = f"{one.nameless} of {one.formulas} formulas ({share:.2f} %) have a symbol without a meaning"
    examples = f", such as {'; '.join(one.nameless_examples)}" if one.nameless_examples else ""
    return f"{one.library}: exact {', '.join(ways) or 'none'}; {names}{examples}"


def _reasons(one: Share, most: int) -> Table:
    table = _table((f"{one.library}: not exact because", "classes", "at", "such as"))
    for reason in one.reasons[:most]:
        table.add_row(_said(reason), str(reason.classes), reason.place, reason.example)
    return table


def _said(reason: Reason) -> str:
    stage = f"{reason.state}, {reason.kind}" if reason.kind else reason.state
    return f"{stage}: {reason.reason}"


def _table(columns: Sequence[str]) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for index, column in enumerate(columns):
        number = column in (*_ALL, *_NUMBERS)
        table.add_column(column, justify="right" if number and index else "left", overflow="fold")
    return table

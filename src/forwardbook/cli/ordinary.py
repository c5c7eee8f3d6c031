"""`forwardbook coverage --ordinary`: classes drawn, held against runs at ordinary sizes, told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import typer

from forwardbook.cli.exit_codes import REFUSED
from forwardbook.cli.printing import put, say

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from forwardbook.pipeline.ordinary.answers import Answer
    from forwardbook.pipeline.ordinary.summary import Summary

SHOWN: Final = 12
"""Examples of each kind in a text."""


def ordinary(library: str, sample: int, seed: int, jobs: int, as_json: bool) -> None:
    """Draws classes, holds their entries against runs; ends with 1 where an answer is not equal."""
    from forwardbook.pipeline.ordinary.sample import drawn, each_family
    from forwardbook.pipeline.ordinary.summary import summary
    from forwardbook.workspace import Workspace
    from forwardbook.workspace.entry_store import entry_stores, model_of

    stores = entry_stores(Workspace.find())
    names = [one for one in model_of(stores).names.values() if library in ("", one.partition(".")[0])]
    classes = drawn(names, sample, seed)
    found = []
    for one in each_family(classes, [each.folder for each in stores], jobs):
        found.append(one)
        states = [answer.state for answer in one.answers]
        say(
            f"{one.family}: {one.runs} runs, {len(states)} points, {states.count('equal')} equal, "
            f"{states.count('unequal')} not equal, {states.count('unanswered')} without an answer"
        )
    total = summary(classes, found)
    if as_json:
        import json
        from dataclasses import asdict

        put(json.dumps({"seed": seed, **asdict(total)}, indent=1))
    else:
        from forwardbook.cli.terminal import console

        console().print(view(total, seed))
    if total.unequal:
        raise typer.Exit(REFUSED)


def view(total: Summary, seed: int) -> RenderableType:
    """The figures, then by samples and tokens, then examples."""
    from rich.console import Group
    from rich.text import Text

    told = (
        f"{total.drawn} classes drawn with --seed {seed}, {total.called} of them called in {total.runs} runs "
        f"at their families' default configs\n"
        f"{total.points} points, {total.answered} answered ({_share(total.answered, total.points)}), "
        f"{total.equal} answers equal ({_share(total.equal, total.answered)}); "
        f"{total.always_equal} classes are equal at every point"
    )
    places = _table("samples", "tokens", "points", "answered", "equal")
    for each in total.by_place:
        counts = (each.batch_size, each.tokens, each.points, each.answered, each.equal)
        places.add_row(*(f"{one:,}" for one in counts))
    parts: list[RenderableType] = [Text(told), Text(""), places]
    if total.unequal:
        table = _table("not equal", "at", "quantity", "entry", "run")
        for one in total.unequal[:SHOWN]:
            name, (ours, real) = next(iter(one.unequal.items()))
            more = f" and {len(one.unequal) - 1} more" if len(one.unequal) > 1 else ""
            table.add_row(
                f"{one.full_class_name}, {one.regime}", _at(one), name + more, f"{ours:,}", f"{real:,}"
            )
        parts += [Text(""), table]
    if total.unanswered:
        table = _table("without an answer because", "points", "classes", "such as", "at")
        for why in total.unanswered[:SHOWN]:
            table.add_row(
                why.example.reason,
                str(why.points),
                str(why.classes),
                why.example.full_class_name,
                _at(why.example),
            )
        parts += [Text(""), table]
    if total.unreached:
        table = _table("not called", "because")
        for class_name, reason in list(total.unreached.items())[:SHOWN]:
            table.add_row(class_name, reason)
        parts += [Text(""), table]
    return Group(*parts)


def _at(one: Answer) -> str:
    place = one.where.place
    sizes = ", ".join(f"{name}={size}" for name, size in one.sizes.items())
    run = f"batch {place.batch_size}, {place.tokens} tokens, {8 * place.dtype_bytes} bit"
    scenario = "" if one.where.scenario == "default" else f", {one.where.scenario}"
    return f"{run}{scenario}{f': {sizes}' if sizes else ''}"


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def _table(*columns: str) -> Table:
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for name in columns:
        number = name in ("points", "answered", "equal", "classes", "samples", "tokens", "entry", "run")
        table.add_column(name, justify="right" if number else "left", overflow="fold")
    return table

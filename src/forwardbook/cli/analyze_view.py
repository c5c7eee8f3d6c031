"""What came of analysing classes in; entries, or what went wrong, printed."""

from __future__ import annotations

import json
from collections.abc import Iterable

from pydantic import JsonValue

from forwardbook.cli.printing import put, say
from forwardbook.pipeline.analysis.many import Outcome
from forwardbook.pipeline.analysis.one import Analysis
from forwardbook.verdicts import disputes, said_by


def show_analysis(analysis: Analysis, as_json: bool, explain: bool = False) -> bool:
    """One entry on standard output, what became of it beside; whether no judge disagrees with it."""
    if as_json:
        put(json.dumps(_json(analysis), indent=1))
        if analysis.lost:
            say(analysis.lost)
        return _agrees(analysis)
    from forwardbook.cli.entry_view import entry_view
    from forwardbook.cli.explain_view import explain_view
    from forwardbook.cli.terminal import console

    console().print(entry_view(analysis.key, analysis.entry, brief=True))
    if explain:
        console().print(explain_view(analysis.entry))
    say(_closing(analysis))
    return _agrees(analysis)


def show_outcomes(outcomes: Iterable[Outcome], as_json: bool) -> int:
    """A line for each of several classes as it is done, problems in full; how many failed or are disputed.

    As JSON one list: an entry with its key, or the `problem` of a `name`.
    """
    found: list[JsonValue] = []
    failed = 0
    for one in outcomes:
        if one.analysis is None:
            failed += 1
            say(f"error: {one.problem}")
            found.append({"name": one.name, "problem": str(one.problem)})
            continue
        found.append(_json(one.analysis))
        entry = one.analysis.entry
        if not as_json:
            put(
                f"{entry.validation.verdict:<8} {entry.full_class_name}  {_closing(one.analysis)}", flush=True
            )
        failed += not _agrees(one.analysis)
    if as_json:
        put(json.dumps(found, indent=1))
    return failed


def _agrees(analysis: Analysis) -> bool:
    """Whether every judge that was asked agrees; each that does not is told, with line and both numbers."""
    holder = analysis.holder or analysis.entry
    found = list(disputes(holder))
    for regime, judge in found:
        place = holder.code_location
        at = (judge.file, judge.line) if judge.file else (place.file, place.line_start)
        say(f"{at[0]}:{at[1]}: regime {regime.name}: {said_by(judge)}")
    if found:
        name = analysis.entry.full_class_name
        say(f"{name} is {holder.validation.verdict}: a judge that shares no rule with it disagrees")
    return not found


def _json(analysis: Analysis) -> JsonValue:
    return {"key": analysis.key, **analysis.entry.model_dump(mode="json")}


def _closing(analysis: Analysis) -> str:
    if analysis.cached:
        return (
            f"nothing changed since it was analysed: read from the database in {analysis.seconds:.1f} s "
            "(--force analyses again)"
        )
    stored = f"stored as {analysis.key} in module_db.json"
    if analysis.entry.regimes:
        stored += f", calculator generated_modules/{analysis.entry.generated_file_name}"
    return f"{stored}, {analysis.seconds:.1f} s" + (f"\n{analysis.lost}" if analysis.lost else "")

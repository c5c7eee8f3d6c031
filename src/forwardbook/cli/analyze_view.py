"""What came of analysing classes in; entries, or what went wrong, printed."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable

from pydantic import JsonValue

from forwardbook.pipeline.analysis.many import Outcome
from forwardbook.pipeline.analysis.one import Analysis


def show_analysis(analysis: Analysis, as_json: bool, explain: bool = False) -> None:
    """One entry on standard output, what became of it beside."""
    if as_json:
        print(json.dumps(_json(analysis), indent=1))
        return
    from forwardbook.cli.entry_view import entry_view
    from forwardbook.cli.explain_view import explain_view
    from forwardbook.cli.terminal import console

    console().print(entry_view(analysis.key, analysis.entry, brief=True))
    if explain:
        console().print(explain_view(analysis.entry))
    _say(_closing(analysis))


def show_outcomes(outcomes: Iterable[Outcome], as_json: bool) -> int:
    """A line for each of several classes as it is done, problems in full; how many failed.

    As JSON one list: an entry with its key, or the `problem` of a `name`.
    """
    found: list[JsonValue] = []
    failed = 0
    for one in outcomes:
        if one.analysis is None:
            failed += 1
            _say(f"error: {one.problem}")
            found.append({"name": one.name, "problem": str(one.problem)})
            continue
        found.append(_json(one.analysis))
        entry = one.analysis.entry
        if not as_json:
            print(
                f"{entry.validation.verdict:<8} {entry.full_class_name}  {_closing(one.analysis)}", flush=True
            )
    if as_json:
        print(json.dumps(found, indent=1))
    return failed


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
    return f"{stored}, {analysis.seconds:.1f} s"


def _say(text: str) -> None:
    """A line beside the result, on standard error."""
    print(text, file=sys.stderr)

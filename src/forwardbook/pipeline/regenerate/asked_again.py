"""A stored entry in; its class as the code is now, and what an analysis of it says now, out."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path

from forwardbook.pipeline.analysis.subject import Subject, subject
from forwardbook.pipeline.child.job import Limits
from forwardbook.pipeline.child.process import run_child
from forwardbook.pipeline.child.request import Derive, Request, Response
from forwardbook.schema import Entry, Given


def subject_of(entry: Entry, folder: Path, roots: tuple[str, ...] = ()) -> Subject:
    """The class of an entry; one of a user's own is looked for in the file that the entry names.

    Raises:
        ForwardbookError: where it is not found.
    """
    name = entry.code_location.file
    for place in (*(Path(root) for root in roots), folder, folder / "src"):
        if (place / name).is_file():
            found = subject(f"{place / name}:{entry.class_name}")
            if found.full_class_name == entry.full_class_name:
                return found
    return subject(entry.full_class_name, folder)


def derived_as(entry: Entry) -> Derive:
    """How an entry was derived: code that was never run is not run now."""
    return "static" if tuple(entry.derived_by) == ("static",) else "both"


def asked_again(
    entry: Entry,
    wanted: Subject,
    limits: Limits,
    *,
    seed: int,
    roots: tuple[str, ...],
    derive: Derive,
    flips: bool = True,
    run: Callable[[Request, Limits], Response] = run_child,
) -> Response:
    """What is said of the class, built and called as it was for the entry; sizes are drawn from `seed`."""
    given = entry.given or Given()
    with tempfile.TemporaryDirectory(prefix="forwardbook-") as folder:
        config = Path(folder) / "config.json"
        if given.config is not None:
            config.write_text(json.dumps(given.config), encoding="utf-8")
        request = Request(
            target=entry.full_class_name,
            file=str(wanted.found.file),
            roots=roots,
            config_file=str(config) if given.config is not None else None,
            init=given.init,
            inputs=given.inputs,
            derive=derive,
            catalogued=entry.given is None,
            seed=seed,
            flips=flips,
        )
        return run(request, limits) if entry.proposal is None else _held_again(entry, request, limits)


def _held_again(entry: Entry, request: Request, limits: Limits) -> Response:
    """Formulas that were proposed are not derived again but measured again, with other data."""
    from forwardbook.pipeline.analysis.claim_entry import claim_of

    claim = claim_of(entry).model_dump(mode="json")
    worker = "forwardbook.pipeline.analysis.claim_work:work"
    response = run_child(request.model_copy(update={"claim": claim}), limits, worker)
    if response.problem is None and response.entry is None:
        reason = str(response.diagnostics.get("reason"))
        return response.model_copy(update={"problem": reason, "problem_kind": "wrong"})
    return response

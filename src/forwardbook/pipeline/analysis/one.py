"""A class name in; its entry out: from the database if nothing changed, else derived, proved and stored."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import JsonValue

from forwardbook.analyzers.ops import RULES_VERSION
from forwardbook.errors import ForwardbookError
from forwardbook.generate import stuck
from forwardbook.pipeline.analysis.attempt import AnalysisError, Attempt
from forwardbook.pipeline.analysis.earlier import lost_with
from forwardbook.pipeline.analysis.given import SEED as SEED
from forwardbook.pipeline.analysis.given import Options as Options
from forwardbook.pipeline.analysis.given import request_for as request_for
from forwardbook.pipeline.analysis.open_points import open_points
from forwardbook.pipeline.analysis.subject import Subject, subject
from forwardbook.pipeline.child.job import Limits
from forwardbook.pipeline.child.known_words import known_words
from forwardbook.pipeline.child.process import run_child
from forwardbook.pipeline.child.request import Derive, Request, Response
from forwardbook.pipeline.child.response_entry import is_refuted, output_of, read_entry
from forwardbook.pipeline.store import check_writable, remove_diagnostics, store, write_diagnostics
from forwardbook.pipeline.versions import current_versions, differing
from forwardbook.schema import Entry, Given
from forwardbook.workspace import Database, DatabaseError, Workspace

if TYPE_CHECKING:
    from forwardbook.agents.choose import Chosen
    from forwardbook.agents.requests import Preview
    from forwardbook.pipeline.agent.module import Proposed

Run = Callable[[Request, Limits], Response]


@dataclass(frozen=True, slots=True)
class Analysis:
    """What came of it: the entry, its key, whether it was known before, how long it took."""

    key: str
    entry: Entry
    cached: bool
    seconds: float
    holder: Entry | None = None
    """The entry that has its formulas, where that is another."""
    lost: str = ""
    """What other options had given and is stored no more."""


def analyze(
    typed: str,
    options: Options | None = None,
    *,
    workspace: Workspace | None = None,
    limits: Limits | None = None,
    force: bool = False,
    run: Run = run_child,
    started: Callable[[str], None] = lambda name: None,
    chosen: Chosen | None = None,
) -> Analysis:
    """The entry of a class, by name or `file.py:Class`; `started` is told when its code begins to run.

    `chosen` is whoever is asked about lines that no engine settles; by default nobody is.

    Raises:
        ForwardbookError: with a message for a person; the database is then as it was.
    """
    workspace = workspace or Workspace.find()
    tried = attempt(
        typed,
        options or Options(),
        workspace,
        limits or Limits.given(),
        force=force,
        run=run,
        started=started,
        chosen=chosen,
    )
    if isinstance(tried, Analysis):
        return tried
    if chosen is None or not tried.points:
        return concluded(tried, workspace, force=force, chosen=chosen)
    from forwardbook.pipeline.agent.module import propose

    [made] = propose([tried], chosen, limits or Limits.given())
    return concluded(tried, workspace, force=force, chosen=chosen, made=made)


def attempt(
    typed: str,
    options: Options,
    workspace: Workspace,
    limits: Limits,
    *,
    force: bool = False,
    run: Run = run_child,
    started: Callable[[str], None] = lambda name: None,
    chosen: Chosen | None = None,
) -> Attempt | Analysis:
    """What the engines say of a class; its analysis at once where nothing changed since it was stored."""
    begin = time.monotonic()
    _refuse_nesting()
    database = workspace.load()
    wanted = subject(typed)
    key = None if force else known_key(wanted, options.derive, options.given(), database)
    if key is not None and not (chosen is not None and is_open(database[key])):
        holder = database.resolved(key)[1]
        return Analysis(key, database[key], True, time.monotonic() - begin, holder)
    check_writable(workspace)
    if chosen is not None and options.derive == "static":
        raise ForwardbookError(
            "asking an analyst with --derive static: what he proposes is measured, which runs the class; "
            "leave --derive static out"
        )
    started(wanted.full_class_name)
    entry: Entry | None = None
    problem: AnalysisError | None = None
    try:
        entry = _derived(wanted, options, workspace, database, limits, run)
    except AnalysisError as error:
        problem = error
    return Attempt(wanted, options, request_for(wanted, options), entry, problem, begin)


def concluded(
    tried: Attempt,
    workspace: Workspace,
    *,
    force: bool = False,
    chosen: Chosen | None = None,
    made: Proposed | None = None,
) -> Analysis:
    """The analysis, stored: of what was proposed where somebody was asked, else of what the engines said.

    Raises:
        ForwardbookError: there is no entry; why is in the message, and what was said in its file.
    """
    if made is not None and made.failure is not None:
        raise _refused(tried, made, workspace, chosen)
    entry = tried.entry if made is None else made.entry
    if entry is None:
        raise tried.problem or ForwardbookError(
            f"analysing {tried.wanted.full_class_name}: nothing came back"
        )
    if stuck(entry):
        from forwardbook.pipeline.agent.calculator import renderable

        entry = renderable(entry, workspace, chosen)
    entry = dated(entry, tried.wanted, tried.options.given())
    lost = lost_with(_stored(entry.full_class_name, workspace.load()), entry)
    key, entry = store(entry, workspace, RULES_VERSION, force=force)
    remove_diagnostics(key, workspace)
    return Analysis(key, entry, False, time.monotonic() - tried.begin, lost=lost)


def _stored(name: str, database: Database) -> Entry | None:
    """The workspace's own entry of a class, where there is one that can be read."""
    key = database.key_of(name)
    if key is None or key not in database.own:
        return None
    try:
        return database.resolved(key)[1].model_copy(update={"given": database[key].given})
    except DatabaseError:
        return None


def _refused(tried: Attempt, made: Proposed, workspace: Workspace, chosen: Chosen | None) -> AnalysisError:
    name = tried.wanted.full_class_name
    key = workspace.load().key_for(tried.wanted.library, name)
    path = write_diagnostics(key, made.diagnostics or {}, workspace)
    who, failure = chosen.analyst.model if chosen is not None else "an analyst", made.failure
    assert failure is not None
    return AnalysisError(
        f"asking {who} about {name}: unresolved ({failure.kind}): {failure.detail}\n"
        f"  nothing was stored; all that was said is in {_near(path)}",
        "unsupported",
    )


def dated(entry: Entry, wanted: Subject, given: Given | None) -> Entry:
    """The entry with all that decides later whether it still says what an analysis would say."""
    return entry.model_copy(
        update={
            "versions": dict(entry.versions) | current_versions(entry.library),
            "source_hash": wanted.source_hash,
            "code_hash": wanted.code_hash(),
            "given": given,
        }
    )


def is_open(entry: Entry) -> bool:
    """Whether a model could add to what the engines found."""
    return bool(open_points(entry))


def previewed(
    typed: str, options: Options, chosen: Chosen, *, limits: Limits | None = None, run: Run = run_child
) -> Preview | None:
    """What an analyst would be sent about a class, and its worst cost; None if he would not be asked."""
    from forwardbook.pipeline.agent import module as agent_module

    limits = limits or Limits.given()
    tried = attempt(typed, options, Workspace.find(), limits, force=True, run=run, chosen=chosen)
    assert isinstance(tried, Attempt)
    if tried.points:
        return agent_module.previewed(tried, chosen, limits)
    if tried.problem is not None:
        raise tried.problem
    return None


def known_key(wanted: Subject, derive: Derive, given: Given | None, database: Database) -> str | None:
    """The key of an entry that still says what an analysis would say now."""
    key = database.key_of(wanted.full_class_name)
    if key is None:
        return None
    try:
        entry, holder = database[key], database.resolved(key)[1]
    except DatabaseError:
        return None  # a damaged entry is replaced
    derived = set(entry.derived_by)
    enough = derived & {"symbolic", "agent"} if derive == "both" else derive in derived
    current = entry.source_hash == wanted.source_hash and entry.given == given
    fresh = current and not differing(entry.versions, database.rules_version, holder.operations)
    fresh = fresh and entry.code_hash == wanted.code_hash()
    return key if enough and fresh else None


def _derived(
    wanted: Subject, options: Options, workspace: Workspace, database: Database, limits: Limits, run: Run
) -> Entry:
    request = request_for(wanted, options)
    response = run(request, limits)
    entry = read_entry(response, wanted.full_class_name)
    key = database.key_for(wanted.library, wanted.full_class_name)
    if response.problem_kind == "wrong" or (entry is not None and is_refuted(entry)):
        reason = response.problem or f"analysing {wanted.full_class_name}: measurement refuted the formula"
        told = response.plainly(wanted.full_class_name)
        content: dict[str, JsonValue] = {"problem": told, "request": request.model_dump(mode="json")}
        measured = {name: said for name, said in response.diagnostics.items() if name != "output"}
        content |= {"diagnostics": measured, "entry": known_words(request).only_in(response.entry)}
        path = write_diagnostics(key, content, workspace)
        message = f"{reason}\n  nothing was stored; sizes, lines, predicted and measured are in {_near(path)}"
        raise AnalysisError(message, "wrong", told=told)
    if response.problem is not None or entry is None:
        message = response.problem or f"analysing {wanted.full_class_name}: no entry came back; report this"
        kind, told = response.problem_kind or "internal", response.plainly(wanted.full_class_name)
        raise AnalysisError(message, kind, output_of(response), told)
    return entry


def _near(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def _refuse_nesting() -> None:
    if "FORWARDBOOK_CHILD" in os.environ:
        raise ForwardbookError(
            "analysing from within an analysis: importing the module of the class analyses again; "
            'put that call under if __name__ == "__main__":'
        )

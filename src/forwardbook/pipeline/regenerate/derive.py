"""A stored entry whose class may have changed in; its entry as the code is now out, nothing stored.

All that a task needs is in it, and all that came of it is in its outcome, problems too: it may run in a
thread of this process or on another machine that sees the same files.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from pydantic import Field, JsonValue

from forwardbook import __version__
from forwardbook.errors import ForwardbookError
from forwardbook.pipeline.analysis.one import SEED, dated
from forwardbook.pipeline.analysis.subject import Subject
from forwardbook.pipeline.child.job import Limits
from forwardbook.pipeline.child.known_words import known_words
from forwardbook.pipeline.child.request import Derive, ProblemKind, Request, Response
from forwardbook.pipeline.child.response_entry import is_refuted, read_entry
from forwardbook.pipeline.regenerate.asked_again import asked_again, derived_as, subject_of
from forwardbook.pipeline.versions import current_versions
from forwardbook.profiling.raised import first_line_kept
from forwardbook.schema import Entry, Given, Record
from forwardbook.workspace.kept_outcomes import KeptOutcomes

PASSING: Final = frozenset({"timeout", "memory", "crash", "internal"})
"""Kinds of problems that another run may not have."""


class Task(Record):
    """One entry to derive again; `folder` is where its own code is looked for."""

    key: str
    entry: dict[str, JsonValue]
    folder: str
    roots: tuple[str, ...] = ()
    """Folders whose packages are taken before the installed ones, such as another version of a library."""
    memory_gb: float
    seconds: float
    derive: Derive | None = None
    """Otherwise as it was derived."""

    @property
    def full_class_name(self) -> str:
        """The class."""
        return str(self.entry.get("full_class_name", ""))


class Outcome(Record):
    """The entry, or the problem; where and how long."""

    key: str
    full_class_name: str
    fingerprint: str = ""
    """Of everything that the entry depends on: the same again would give the same."""
    entry: dict[str, JsonValue] | None = None
    problem: str = ""
    problem_kind: str = ""
    diagnostics: dict[str, JsonValue] = Field(default_factory=dict)
    seconds: float = 0.0
    worker: str = ""


@dataclass(frozen=True, slots=True)
class Keeping:
    """Work whose outcome is on disk before anybody takes it: whoever waits for it may be killed."""

    work: Callable[[Task], Outcome]
    folder: str

    def __call__(self, task: Task) -> Outcome:
        """The outcome, kept under its fingerprint unless another run may come out otherwise."""
        outcome = self.work(task)
        if outcome.fingerprint and outcome.problem_kind not in PASSING:
            with contextlib.suppress(ForwardbookError, OSError):  # then it is only derived again
                KeptOutcomes(Path(self.folder)).keep(outcome.fingerprint, outcome.model_dump_json())
        return outcome


@dataclass(frozen=True, slots=True)
class Found:
    """The class of a task as its source is now."""

    subject: Subject
    roots: tuple[str, ...]
    fingerprint: str


def derive(task: Task) -> Outcome:
    """The entry of a task's class as its code is now; a problem is part of the outcome, nothing is raised."""
    begin = time.monotonic()
    made = Outcome(
        key=task.key, full_class_name=task.full_class_name, worker=f"{platform.node()}:{os.getpid()}"
    )
    update: dict[str, object]
    try:
        entry = Entry.model_validate(task.entry)
        found = found_for(task, entry)
        response = _response(task, entry, found)
        update = {"fingerprint": found.fingerprint, **_came(response, entry, found.subject)}
    except ForwardbookError as error:
        update = {"problem": str(error), "problem_kind": "gone"}
    except Exception as error:  # noqa: BLE001 - on a cluster whoever waits would wait for ever
        update = {"problem": f"{first_line_kept(error)}; report this", "problem_kind": "internal"}
    return made.model_copy(update={**update, "seconds": round(time.monotonic() - begin, 3)})


def found_for(task: Task, entry: Entry) -> Found:
    """The class as it is now, and the fingerprint of what an entry of it depends on.

    Raises:
        ForwardbookError: where there is no such class any more.
    """
    wanted = subject_of(entry, Path(task.folder), task.roots)
    roots = tuple(dict.fromkeys((*task.roots, *wanted.roots)))
    given = (entry.given or Given()).model_dump(mode="json")
    versions = _versions(entry.library, task.roots)
    proposal = entry.proposal.model_dump(mode="json") if entry.proposal else None
    code = [wanted.full_class_name, wanted.source_hash, wanted.code_hash()]
    parts: list[object] = [*code, versions, given, _derive(task, entry), SEED, proposal, _product()]
    digest = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]
    return Found(wanted, roots, digest)


@cache
def _product() -> tuple[str, object]:
    """Its version and all that an entry of it tells: another product may tell more of the same code."""
    return __version__, Entry.model_json_schema()


def _versions(library: str, roots: tuple[str, ...]) -> dict[str, str]:
    from importlib.metadata import distributions

    found = current_versions(library)
    for one in distributions(path=list(roots)) if roots else ():
        if one.metadata["Name"].replace("-", "_").lower() == library.lower():
            found[library] = one.version
    return found


def _derive(task: Task, entry: Entry) -> Derive:
    return task.derive or derived_as(entry)


def _response(task: Task, entry: Entry, found: Found) -> Response:
    limits = Limits(task.memory_gb, task.seconds)
    derive = _derive(task, entry)
    return asked_again(entry, found.subject, limits, seed=SEED, roots=found.roots, derive=derive)


def _came(response: Response, before: Entry, wanted: Subject) -> dict[str, object]:
    kind: ProblemKind = response.problem_kind
    problem = response.plainly(before.full_class_name) if response.problem is not None else ""
    entry = read_entry(response, before.full_class_name)
    if entry is not None and is_refuted(entry):
        kind, problem = "wrong", problem or "measurement refuted the formula"
    if not problem and entry is not None:
        whole = dated(entry, wanted, before.given)
        if before.proposal is not None:
            whole = whole.model_copy(update={"proposal": before.proposal})
        return {"entry": whole.model_dump(mode="json")}
    problem = problem or "no entry came back; report this"
    told = {name: said for name, said in response.diagnostics.items() if name != "output"}
    if response.entry is not None:
        asked = Request(target=before.full_class_name, file=str(wanted.found.file), roots=wanted.roots)
        told["entry"] = known_words(asked).only_in(response.entry)
    return {"problem": problem, "problem_kind": kind or "internal", "diagnostics": told}

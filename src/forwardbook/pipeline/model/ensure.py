"""The classes of an architecture in; out those that the database lacked, analysed, or why they cannot be."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from forwardbook.errors import ForwardbookError
from forwardbook.models.architecture import Architecture
from forwardbook.pipeline.analysis.attempt import AnalysisError
from forwardbook.pipeline.analysis.one import Analysis, analyze
from forwardbook.pipeline.child.job import Limits
from forwardbook.schema import PROVED
from forwardbook.workspace import Database, DatabaseError, Workspace

Analyse = Callable[..., Analysis]


@dataclass(frozen=True)
class Ensured:
    """One class: proved in the database, analysed just now, or unresolved and why."""

    class_name: str
    state: Literal["known", "analysed", "missing", "unresolved"]
    key: str = ""
    verdict: str = ""
    reason: str = ""
    seconds: float = 0.0


def known(architecture: Architecture, database: Database) -> list[Ensured]:
    """Every class of the architecture: in the database with a proof, or missing."""
    return [_looked_up(name, database.key_of(name), database) for name in architecture.classes()]


def _looked_up(name: str, key: str | None, database: Database) -> Ensured:
    if key is None:
        return Ensured(name, "missing", reason="no entry")
    try:
        verdict = database.resolved(key)[1].validation.verdict
    except DatabaseError as error:
        return Ensured(name, "missing", key, reason=str(error).splitlines()[0])
    if verdict in PROVED:
        return Ensured(name, "known", key, verdict)
    return Ensured(name, "missing", key, verdict, "its entry is not proved")


def analysed(
    names: Sequence[str],
    root: Path,
    jobs: int = 0,
    limits: Limits | None = None,
    started: Callable[[str], None] = lambda name: None,
    run: Analyse = analyze,
) -> Iterator[Ensured]:
    """Each class analysed in a process of its own, several at once, told as they are done."""

    def one(name: str) -> Ensured:
        started(name)
        try:
            found = run(name, workspace=Workspace(root), limits=limits)
        except ForwardbookError as error:
            told = error.told if isinstance(error, AnalysisError) else str(error)
            return Ensured(name, "unresolved", reason=next(iter(told.splitlines()), ""))
        verdict = found.entry.validation.verdict
        if verdict in PROVED:
            return Ensured(name, "analysed", found.key, verdict, seconds=found.seconds)
        reason = found.entry.validation.reason or f"its formulas are {verdict}"
        return Ensured(name, "unresolved", found.key, verdict, reason, found.seconds)

    with ThreadPoolExecutor(jobs or processors()) as pool:
        waiting: set[Future[Ensured]] = {pool.submit(one, name) for name in names}
        try:
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    yield future.result()
        finally:
            for future in waiting:
                future.cancel()


def processors() -> int:
    """How many classes to analyse at once: one for each processor, at most four for their memory."""
    return min(os.cpu_count() or 1, 4)

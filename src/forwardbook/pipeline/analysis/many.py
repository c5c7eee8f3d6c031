"""Names of classes in; the analysis or the problem of each out, all that is open asked at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forwardbook.errors import ForwardbookError
from forwardbook.pipeline.analysis.attempt import Attempt
from forwardbook.pipeline.analysis.one import Analysis, Options, attempt, concluded
from forwardbook.pipeline.analysis.spread import answered
from forwardbook.pipeline.child.job import Limits
from forwardbook.pipeline.spread import HERE, Spread
from forwardbook.workspace import Workspace

if TYPE_CHECKING:
    from forwardbook.agents.choose import Chosen


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one class: exactly one of the two."""

    name: str
    analysis: Analysis | None = None
    problem: ForwardbookError | None = None


def analyze_many(
    names: Sequence[str],
    options: Options,
    *,
    limits: Limits | None = None,
    force: bool = False,
    started: Callable[[str], None] = lambda name: None,
    chosen: Chosen | None = None,
    spread: Spread = HERE,
) -> Iterator[Outcome]:
    """Each class as soon as it is stored; those with open lines last, after one round of questions.

    A class that fails does not keep the others from being stored.
    """
    workspace, limits = Workspace.find(), limits or Limits.given()
    waiting: list[tuple[str, Attempt]] = []
    for name, run in answered(list(dict.fromkeys(names)), options, workspace, limits, spread, force):
        try:
            tried = attempt(
                name, options, workspace, limits, force=force, run=run, started=started, chosen=chosen
            )
            if isinstance(tried, Attempt):
                if chosen is not None and tried.points:
                    waiting.append((name, tried))
                    continue
                tried = concluded(tried, workspace, force=force)
            yield Outcome(name, tried)
        except ForwardbookError as error:
            yield Outcome(name, problem=error)
    if chosen is None or not waiting:
        return
    from forwardbook.pipeline.agent.module import propose

    made = propose([tried for _, tried in waiting], chosen, limits)
    for (name, tried), one in zip(waiting, made, strict=True):
        try:
            yield Outcome(name, concluded(tried, workspace, force=force, chosen=chosen, made=one))
        except ForwardbookError as error:
            yield Outcome(name, problem=error)

"""What the engines say of one class: its entry, or their problem, and what is left open of it."""

from __future__ import annotations

from dataclasses import dataclass

from forwardbook.errors import ForwardbookError
from forwardbook.pipeline.analysis.given import Options
from forwardbook.pipeline.analysis.open_points import open_points
from forwardbook.pipeline.analysis.subject import Subject
from forwardbook.pipeline.child.request import ProblemKind, Request
from forwardbook.schema import Entry


class AnalysisError(ForwardbookError):
    """A class could not be analysed: `kind` says what went wrong, `output` what its code printed last.

    `told` is what a model may read of it: nothing that the code made as it ran.
    """

    def __init__(
        self, message: str, kind: ProblemKind, output: tuple[str, ...] = (), told: str = ""
    ) -> None:
        super().__init__("\n".join([message, *_quoted(output)]))
        self.kind, self.output, self.told = kind, output, told


def _quoted(output: tuple[str, ...]) -> list[str]:
    if not output:
        return []
    return ["  the last that its code printed:", *(f"  | {line[:200]}" for line in output[-8:])]


@dataclass(frozen=True, slots=True)
class Attempt:
    """What the engines say of a class: its entry, or their problem."""

    wanted: Subject
    options: Options
    request: Request
    entry: Entry | None
    problem: AnalysisError | None
    begin: float

    @property
    def points(self) -> tuple[str, ...]:
        """What they leave open, a line each; nothing where a model has nothing to add."""
        problem = self.problem
        return open_points(self.entry, problem.told if problem else "", problem.kind if problem else "")

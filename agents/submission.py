"""What a model submits: raw JSON in, accepted or refused with the checker's words; refusals are counted."""

from __future__ import annotations

from dataclasses import dataclass, field

from pydantic import BaseModel, ValidationError

from forwardbook.agents.analyst import Answer, Failure, Spent, Task
from forwardbook.agents.tools import Call, bounded, problems

REASON = 8_000
"""Characters of a reason that a model reads."""


@dataclass
class Submission:
    """One task's conversation as far as the checker is concerned."""

    task: Task
    accepted: BaseModel | None = None
    attempts: list[str] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)

    async def judge(self, submitted: object) -> str:
        """Why the value is refused: the schema's words, else the checker's; empty where it is accepted."""
        try:
            value = self.task.answer.model_validate(submitted)
        except ValidationError as error:
            reason = f"it does not follow the schema:\n{problems(error)}"
        else:
            reason = bounded(await self.task.verify(value), REASON)
            if not reason:
                self.accepted = value
                return ""
        self.attempts.append(reason)
        return reason

    @property
    def exhausted(self) -> bool:
        """Whether as many answers failed as the task allows."""
        return len(self.attempts) >= self.task.limits.attempts

    def answer(self, model: str, spent: Spent) -> Answer:
        """The accepted value."""
        assert self.accepted is not None
        return Answer(self.accepted, model, spent, tuple(self.calls), tuple(self.attempts))

    def invalid(self, spent: Spent, otherwise: str) -> Failure:
        """The failure of a conversation that ended without an accepted value."""
        count = len(self.attempts)
        detail = f"{count} answers failed the checker; the last: {self.attempts[-1]}" if count else otherwise
        return Failure("invalid", detail, spent, tuple(self.calls), tuple(self.attempts))

    def failure(self, failure: Failure, spent: Spent) -> Failure:
        """Another failure, with what was spent and said before it."""
        return Failure(failure.kind, failure.detail, spent, tuple(self.calls), tuple(self.attempts))

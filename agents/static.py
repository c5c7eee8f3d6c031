"""The analyst without a model, the default: the static engine's own answer, else `unresolved`."""

from __future__ import annotations

from forwardbook.agents.analyst import Answer, Failure, Task


class StaticAnalyst:
    """Sends nothing and spends nothing."""

    model = "static"

    async def ask(self, task: Task) -> Answer | Failure:
        """What the static engine says, if it passes the checker."""
        value = task.static()
        if value is None:
            return Failure("unresolved", "the static engine has no answer and no model was asked")
        reason = await task.verify(value)
        if reason:
            return Failure("invalid", reason, attempts=(reason,))
        return Answer(value, self.model)

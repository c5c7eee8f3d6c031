"""Answers on disk: a task in, the answer that was recorded for exactly this task and model out."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from pydantic import BaseModel, JsonValue, ValidationError

from forwardbook.agents.analyst import Analyst, Answer, Failure, Spent, Task, compact
from forwardbook.agents.tools import Call
from forwardbook.workspace import WorkspaceError, write_atomically

VERSION: Final = 1


class Changed(Exception):
    """A recording that is not as it was written."""


def key_of(task: Task, model: str) -> str:
    """The name of a recording: whatever could change the answer is part of it."""
    parts: JsonValue = {
        "role": task.role,
        "prompt": [task.prompt.version, task.prompt.system, task.prompt.text],
        "schema": task.schema,
        "tools": [tool.signature for tool in task.tools],
        "context": task.context,
        "model": model,
    }
    return hashlib.sha256(compact(parts).encode("utf-8", "surrogatepass")).hexdigest()


def record(folder: Path, task: Task, answer: Answer) -> Path:
    """Write the recording of an answer."""
    content: dict[str, JsonValue] = {
        "version": VERSION,
        "key": key_of(task, answer.model),
        "role": task.role,
        "prompt_version": task.prompt.version,
        "model": answer.model,
        "value": answer.value.model_dump(mode="json"),
        "calls": [asdict(call) for call in answer.calls],
        "attempts": [*answer.attempts],
        "spent": asdict(answer.spent),
    }
    path = folder / f"{content['key']}.json"
    text = json.dumps({**content, "checksum": _checksum(content)}, indent=1, ensure_ascii=False)
    write_atomically(path, text + "\n")
    return path


def load(folder: Path, task: Task, model: str) -> Answer | None:
    """The recorded answer, None where there is none; it has yet to pass the checker.

    Raises:
        Changed: the file is not as it was written, or belongs to another task.
    """
    key = key_of(task, model)
    path = folder / f"{key}.json"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise Changed(f"{path.name}: it cannot be read as JSON ({type(error).__name__})") from error
    if not isinstance(content, dict) or content.pop("checksum", None) != _checksum(content):
        raise Changed(f"{path.name}: its checksum differs")
    if content.get("version") != VERSION or content.get("key") != key:
        raise Changed(f"{path.name}: it is the recording of another task or version")
    try:
        return _answer(content, task.answer)
    except (ValidationError, TypeError, KeyError) as error:
        raise Changed(f"{path.name}: its value does not follow the schema") from error


def _answer(content: Mapping[str, JsonValue], kind: type[BaseModel]) -> Answer:
    calls = content["calls"]
    attempts = content["attempts"]
    spent = content["spent"]
    if not (isinstance(calls, list) and isinstance(attempts, list) and isinstance(spent, dict)):
        raise TypeError("calls, attempts and spent")
    return Answer(
        kind.model_validate(content["value"]),
        str(content["model"]),
        Spent(**{name: int(str(number)) for name, number in spent.items()}),
        tuple(Call(**call) for call in calls if isinstance(call, dict)),  # type: ignore[arg-type]
        tuple(str(each) for each in attempts),
        replayed=True,
    )


def _checksum(content: Mapping[str, JsonValue]) -> str:
    return hashlib.sha256(compact(dict(content)).encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class Replay:
    """Answers from recordings alone; each passes the checker again before it is given."""

    folder: Path
    model: str

    async def ask(self, task: Task) -> Answer | Failure:
        """The recorded answer; a missing or changed recording is `unrecorded`."""
        try:
            answer = load(self.folder, task, self.model)
        except Changed as problem:
            return Failure("unrecorded", f"a recording was refused: {problem}")
        if answer is None:
            return Failure("unrecorded", f"there is no recording of this {task.role} task with {self.model}")
        reason = await task.verify(answer.value)
        if reason:
            return Failure("invalid", f"a recording fails the checker: {reason}", attempts=(reason,))
        return answer


@dataclass(frozen=True)
class Recorded:
    """An analyst whose answers are kept: a task that was answered before costs nothing."""

    inner: Analyst
    folder: Path

    @property
    def model(self) -> str:
        """The model of the analyst behind."""
        return self.inner.model

    async def close(self) -> None:
        """Give the connections of the analyst behind back."""
        close = getattr(self.inner, "close", None)
        if close is not None:
            await close()

    async def ask(self, task: Task) -> Answer | Failure:
        """The recorded answer if it still passes the checker, else a new one, which is recorded."""
        known = await Replay(self.folder, self.model).ask(task)
        return known if isinstance(known, Answer) else self._kept(task, await self.inner.ask(task))

    async def ask_all(self, tasks: Sequence[Task]) -> list[Answer | Failure]:
        """The same for many tasks: those without a recording go to the analyst behind together."""
        replay = Replay(self.folder, self.model)
        known = dict(enumerate(await asyncio.gather(*map(replay.ask, tasks))))
        new = [number for number, each in known.items() if not isinstance(each, Answer)]
        together = getattr(self.inner, "ask_all", None)
        wanted = [tasks[number] for number in new]
        given = (
            await together(wanted)
            if together is not None
            else await asyncio.gather(*map(self.inner.ask, wanted))
        )
        known |= {number: self._kept(tasks[number], each) for number, each in zip(new, given, strict=True)}
        return [known[number] for number in range(len(tasks))]

    def _kept(self, task: Task, answer: Answer | Failure) -> Answer | Failure:
        if isinstance(answer, Answer):
            with contextlib.suppress(WorkspaceError):  # an answer that cannot be kept is still one
                record(self.folder, task, answer)
        return answer

"""Recordings: what is in the key, what is refused, what is asked again."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from forwardbook.agents.analyst import Answer, Failure, Spent, Task
from forwardbook.agents.prompt import Prompt
from forwardbook.agents.recordings import Recorded, Replay, key_of, record
from forwardbook.agents.static import StaticAnalyst
from forwardbook.agents.tools import Call

from .conftest import Sum, holds, small

ANSWER = Answer(Sum(total=4), "m", Spent(2, 10, 5, 1, 0, 77), (Call("facts", "{}", "abc"),), ("no",))


class Fixed:
    """An analyst with one answer, that counts how often it is asked."""

    model = "m"

    def __init__(self) -> None:
        self.asked = 0

    async def ask(self, task: Task) -> Answer | Failure:
        """The answer."""
        self.asked += 1
        return ANSWER


def replayed(folder: Path, task: Task, model: str = "m") -> Answer | Failure:
    """What a replay gives."""
    return asyncio.run(Replay(folder, model).ask(task))


def test_recorded_answer_comes_back(tmp_path: Path) -> None:
    """A recording gives value, calls, attempts and cost as they were."""
    record(tmp_path, small(), ANSWER)

    assert replace(ANSWER, replayed=True) == replayed(tmp_path, small())


@pytest.mark.parametrize(
    "other",
    [
        small(1),
        replace(small(), role="other"),
        replace(small(), context="other"),
        replace(small(), tools=()),
        replace(small(), prompt=Prompt("You add numbers.", "Add the numbers of task 0.", "v2")),
        replace(small(), answer=type("Sum", (Sum,), {"__annotations__": {"more": int}, "more": 0})),
    ],
)
def test_key_holds_all_that_matters(other: Task, tmp_path: Path) -> None:
    """Another role, prompt, schema, tool, context or model has another recording."""
    record(tmp_path, small(), ANSWER)

    assert key_of(small(), "m") != key_of(other, "m")
    for given in (replayed(tmp_path, other), replayed(tmp_path, small(), "n")):
        assert isinstance(given, Failure)
        assert "unrecorded" == given.kind


@pytest.mark.parametrize("field", ["value", "calls", "spent", "model", "attempts", "role", "version", "key"])
def test_changed_recording_is_refused(field: str, tmp_path: Path) -> None:
    """Whatever of a recording is changed, it is refused."""
    path = record(tmp_path, small(), ANSWER)
    content = json.loads(path.read_text())
    content[field] = {"total": 4, "reasoning": "forged"} if field == "value" else "forged"
    path.write_text(json.dumps(content))
    given = replayed(tmp_path, small())

    assert isinstance(given, Failure)
    assert ("unrecorded", True) == (given.kind, "checksum" in given.detail)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"checksum": 1}'])
def test_damaged_recording_is_refused(text: str, tmp_path: Path) -> None:
    """What is no recording at all is refused."""
    record(tmp_path, small(), ANSWER).write_text(text)
    given = replayed(tmp_path, small())

    assert isinstance(given, Failure)
    assert "unrecorded" == given.kind


def test_recording_passes_the_checker_again(tmp_path: Path) -> None:
    """A recording whose answer is wrong by now is invalid."""
    record(tmp_path, small(), replace(ANSWER, value=Sum(total=5)))
    given = replayed(tmp_path, small())

    assert isinstance(given, Failure)
    assert "invalid" == given.kind


def test_recorded_task_is_asked_once(tmp_path: Path) -> None:
    """The same task is answered from its recording; one that was changed is asked again."""
    fixed = Fixed()
    analyst = Recorded(fixed, tmp_path)
    answers = [asyncio.run(analyst.ask(small())) for _ in range(3)]
    next(tmp_path.glob("*.json")).write_text("{}")
    asyncio.run(analyst.ask(small()))

    assert 2 == fixed.asked
    assert [False, True, True] == [isinstance(one, Answer) and one.replayed for one in answers]


def test_static_analyst_spends_nothing() -> None:
    """Without a model a task has the static engine's answer if that holds, else it is unresolved."""
    asked = [
        small(),
        replace(small(), static=lambda: Sum(total=4)),
        replace(small(), static=lambda: Sum(total=5)),
    ]
    first, second, third = (asyncio.run(StaticAnalyst().ask(task)) for task in asked)

    assert isinstance(first, Failure)
    assert isinstance(second, Answer)
    assert isinstance(third, Failure)
    assert ("unresolved", Sum(total=4), "invalid") == (first.kind, second.value, third.kind)
    assert holds is small().verify

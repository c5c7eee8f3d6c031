"""The plain backend: the real client against a scripted service."""

import time

import pytest

from forwardbook.agents.analyst import Answer, Failure, Spent
from forwardbook.agents.ledger import Ledger, prices

from .conftest import MODEL, Sum, api, ask, small
from .faults import FAULTS
from .script import Fail, Hang, Say, say, thinking, tool_results, use
from .server import Scripted

RIGHT = use("submit", {"total": 4, "reasoning": "two and two"})
WRONG = use("submit", {"total": 5})


def test_refused_answer_is_mended() -> None:
    """The model reads the checker's words after a wrong answer, and its right one is taken."""
    steps = [
        say(thinking("hm"), WRONG),
        lambda body: say(RIGHT if "measured 4" in tool_results(body) else "?"),
    ]
    with Scripted(steps) as server:
        [answer] = ask(api(server.url), small())

    assert isinstance(answer, Answer)
    assert Sum(total=4, reasoning="two and two") == answer.value
    assert ("predicted 5, measured 4",) == answer.attempts
    assert Spent(2, 2000, 200, 0, 0, 2000 * 2000 + 200 * 10_000) == answer.spent
    assert {"type": "thinking", "thinking": "hm", "signature": "scripted"} in server.bodies[1]["messages"][1][
        "content"
    ]


def test_schema_is_checked_first() -> None:
    """What does not follow the schema never reaches the checker; the model reads the place."""
    with Scripted([say(use("submit", {"total": "many"})), say(RIGHT)]) as server:
        [answer] = ask(api(server.url), small())

    assert isinstance(answer, Answer)
    assert "total" in answer.attempts[0]


def test_tools_are_served_page_by_page() -> None:
    """A long result comes in pages that the model asks for; an unknown tool is an error that it reads."""
    steps = [
        say(
            use("facts", {}),
            use("facts", {"page": 2}),
            use("shell", {"command": "id"}),
            use("facts", {"x": 1}),
        ),
        say(RIGHT),
    ]
    with Scripted(steps) as server:
        [answer] = ask(api(server.url), small())

    read = tool_results(server.bodies[1])
    assert isinstance(answer, Answer)
    assert "[page 1 of 2]" in read
    assert "[page 2 of 2]" in read
    assert "there is no tool 'shell'" in read
    assert [False, False, True, True] == [call.is_error for call in answer.calls[:4]]


def test_liar_ends_invalid() -> None:
    """A model that keeps submitting what is wrong is given up, with every reason told."""
    with Scripted(forever=lambda body: say(WRONG)) as server:
        [failure] = ask(api(server.url), small(attempts=3))

    assert isinstance(failure, Failure)
    assert ("invalid", 3) == (failure.kind, len(failure.attempts))
    assert 3 == len(server.bodies)


def test_text_alone_gets_one_nudge() -> None:
    """A model that submits nothing is reminded once."""
    with Scripted([say("four"), say("I said four")]) as server:
        [failure] = ask(api(server.url), small())

    assert isinstance(failure, Failure)
    assert "invalid" == failure.kind
    assert 2 == len(server.bodies)


@pytest.mark.parametrize("name", FAULTS)
def test_fault_has_its_kind(name: str) -> None:
    """Each fault ends in its own kind of failure, in time, and the ledger holds nothing back."""
    step, kind = FAULTS[name]
    ledger = Ledger.of_usd(10)
    begin = time.monotonic()
    with Scripted(forever=lambda body: step) as server:
        [failure] = ask(api(server.url, ledger, request_seconds=1.0), small(seconds=4))

    assert isinstance(failure, Failure)
    assert kind == failure.kind
    assert time.monotonic() - begin < 4
    assert 0 == ledger.held
    assert failure.spent == ledger.spent


def test_refused_connection() -> None:
    """Where nobody listens the failure is one of connection."""
    with Scripted() as server:
        url = server.url
    [failure] = ask(api(url), small())

    assert isinstance(failure, Failure)
    assert "connection" == failure.kind


def test_turns_are_limited() -> None:
    """A model that only reads ends at the limit of turns."""
    with Scripted(forever=lambda body: say(use("facts", {}))) as server:
        [failure] = ask(api(server.url), small(turns=3))

    assert isinstance(failure, Failure)
    assert ("turns", 3) == (failure.kind, len(server.bodies))


def test_task_ends_in_time() -> None:
    """The limit of a task holds in the middle of a request, which is booked at its worst."""
    ledger = Ledger()
    begin = time.monotonic()
    with Scripted([Hang(30)]) as server:
        [failure] = ask(api(server.url, ledger), small(seconds=0.5))

    assert isinstance(failure, Failure)
    assert "timeout" == failure.kind
    assert time.monotonic() - begin < 3
    assert 0 == ledger.held
    assert ledger.spent.nano_usd > 8000 * 10_000


def test_passing_fault_is_tried_again() -> None:
    """Kinds that may pass are tried again, the time that the service asks for is waited, all is booked."""
    steps = [Fail(529, "overloaded_error"), Fail(429, "rate_limit_error", retry_after="0.2"), say(RIGHT)]
    ledger = Ledger()
    begin = time.monotonic()
    with Scripted(steps) as server:
        [answer] = ask(api(server.url, ledger, retries=2), small())

    assert isinstance(answer, Answer)
    assert time.monotonic() - begin >= 0.2
    assert 3 == ledger.spent.requests


def test_budget_is_kept_before_each_request() -> None:
    """The request that could exceed the cap is never sent."""
    worst = prices()[MODEL].worst(2000, 8000)
    with Scripted(forever=lambda body: Say((WRONG,), output_tokens=8000)) as server:
        ledger = Ledger(2 * worst)
        [failure] = ask(api(server.url, ledger), small())

    assert isinstance(failure, Failure)
    assert "budget" == failure.kind
    assert 2 == len(server.bodies)
    assert ledger.spent.nano_usd <= 2 * worst


def test_hundred_tasks_at_sixteen() -> None:
    """100 tasks at 16 at once against a service that needs 50 ms: all answered, the ledger exact."""
    ledger = Ledger()
    begin = time.monotonic()
    with Scripted(forever=lambda body: say(RIGHT, delay=0.05, cache_read=300)) as server:
        answers = ask(api(server.url, ledger, at_once=16), *map(small, range(100)))
    seconds = time.monotonic() - begin

    assert all(isinstance(each, Answer) for each in answers)
    assert 100 == len(server.bodies)
    each = 1000 * 2000 + 100 * 10_000 + 300 * 100
    assert Spent(100, 100_000, 10_000, 30_000, 0, 100 * each) == ledger.spent
    assert seconds < 20  # 0.35 s of waiting; the rest is the machine
    print(f"100 tasks in {seconds:.2f} s")

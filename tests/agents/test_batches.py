"""Message Batches: the real client against a scripted service; half the price, each fault its own kind."""

import asyncio
import contextlib

import pytest

from forwardbook.agents.analyst import Answer, Failure, FailureKind, Spent
from forwardbook.agents.batches import BatchAnalyst
from forwardbook.agents.choose import choose
from forwardbook.agents.flow import settle_all
from forwardbook.agents.ledger import Ledger, prices
from forwardbook.agents.requests import half
from forwardbook.agents.settings import Settings, SettingsError

from .batches import Batches, Result
from .conftest import MODEL, api, small
from .script import Drop, Fail, Hang, Json, Raw, Step, say, use
from .server import Scripted

RIGHT = use("submit", {"total": 4, "reasoning": "two and two"})
WRONG = use("submit", {"total": 5})
USED = 1000 * 2000 + 100 * 10_000  # a response of the script, in billionths of a dollar


def batch(url: str, ledger: Ledger, seconds: float = 30.0, **settings: float) -> BatchAnalyst:
    """Batches against a scripted service, looked at every few milliseconds."""
    return BatchAnalyst(api(url, ledger, request_seconds=2.0, **settings), 0.01, seconds)


def number(body: Json) -> int:
    """The number of the small task that a request is about."""
    return int(body["messages"][0]["content"].split()[-1].strip("."))


def right(body: Json) -> Result:
    """Every request is answered rightly."""
    return say(RIGHT)


def test_many_tasks_in_one_batch_at_half_the_price() -> None:
    """100 tasks are one batch whose results come in any order; the ledger is exact, no tools are offered."""
    ledger = Ledger()
    with Scripted(batches=Batches(lambda body: say(RIGHT, cache_read=300), looks=2)) as server:
        answers = asyncio.run(settle_all(list(map(small, range(100))), batch(server.url, ledger)))

    assert all(isinstance(each, Answer) for each in answers)
    assert [100] == [len(made) for made in server.batches.made]
    assert [] == server.bodies
    assert Spent(100, 100_000, 10_000, 30_000, 0, 100 * half(USED + 300 * 100)) == ledger.spent
    params = server.batches.made[0][0]["params"]
    assert (["submit"], MODEL) == ([tool["name"] for tool in params["tools"]], params["model"])
    assert "stream" not in params


def test_what_fails_the_checker_goes_on_as_a_conversation() -> None:
    """A wrong answer of a batch is asked again with tools; both are paid, the first at half."""
    ledger = Ledger()
    plays = Batches(lambda body: say(WRONG if number(body) % 2 else RIGHT))
    with Scripted(forever=lambda body: say(RIGHT), batches=plays) as server:
        answers = asyncio.run(settle_all(list(map(small, range(4))), batch(server.url, ledger)))

    assert [0, 1, 0, 1] == [len(each.attempts) for each in answers]
    assert all(isinstance(each, Answer) for each in answers)
    assert 2 == len(server.bodies)
    assert "facts" in str(server.bodies[0]["tools"])
    assert 4 * half(USED) + 2 * USED == ledger.spent.nano_usd
    assert sum(each.spent.nano_usd for each in answers) == ledger.spent.nano_usd


LINES: dict[str, tuple[Result, FailureKind, bool]] = {
    "refusal": (say("no", stop="refusal"), "refused", True),
    "overloaded": (Fail(529, "overloaded_error"), "overloaded", False),
    "server": (Fail(500, "api_error"), "server", False),
    "rate": (Fail(429, "rate_limit_error"), "rate", False),
    "auth": (Fail(401, "authentication_error"), "auth", False),
    "too long": (Fail(400, "invalid_request_error", "prompt is too long: 300000 tokens"), "too_long", False),
    "bad request": (Fail(400, "invalid_request_error"), "internal", False),
    "expired": ("expired", "timeout", False),
    "canceled": ("canceled", "timeout", False),
    "no line": (None, "malformed", True),
}


@pytest.mark.parametrize("name", LINES)
def test_result_has_its_kind(name: str) -> None:
    """Each result of a request ends in its kind; what the service did not answer costs nothing."""
    result, kind, billed = LINES[name]
    ledger = Ledger.of_usd(10)
    plays = Batches(lambda body: result if number(body) == 1 else say(RIGHT))
    with Scripted(batches=plays) as server:
        given = asyncio.run(settle_all([small(0), small(1)], batch(server.url, ledger)))

    assert isinstance(given[0], Answer)
    assert isinstance(given[1], Failure)
    assert (kind, billed) == (given[1].kind, given[1].spent.nano_usd > 0)
    assert 0 == ledger.held
    assert given[0].spent + given[1].spent == ledger.spent


FAULTS: dict[str, tuple[str, Step, FailureKind, bool]] = {
    "create 401": ("create", Fail(401, "authentication_error"), "auth", False),
    "create 529": ("create", Fail(529, "overloaded_error"), "overloaded", False),
    "create dropped": ("create", Drop(), "connection", True),
    "create malformed": ("create", Raw(200, "{oops"), "malformed", True),
    "create empty": ("create", Raw(200, "{}"), "malformed", True),
    "create html": ("create", Raw(200, "<html>", "text/html"), "malformed", True),
    "create hangs": ("create", Hang(20), "timeout", True),
    "poll 500": ("poll", Fail(500, "api_error"), "server", True),
    "poll dropped": ("poll", Drop(), "connection", True),
    "results 404": ("fetch", Fail(404, "not_found_error"), "auth", True),
    "results cut": ("fetch", Raw(200, '{"custom_id": "ta'), "malformed", True),
}


@pytest.mark.parametrize("name", FAULTS)
def test_fault_of_a_batch_has_its_kind(name: str) -> None:
    """A fault before, while or after a batch runs ends all its tasks; what may be billed is booked."""
    place, step, kind, billed = FAULTS[name]
    ledger = Ledger.of_usd(10)
    plays = Batches(right, **{place: [step] * 3})  # type: ignore[arg-type]
    with Scripted(batches=plays) as server:
        given = asyncio.run(settle_all([small(0), small(1)], batch(server.url, ledger)))

    for each in given:
        assert isinstance(each, Failure)
        assert (kind, billed) == (each.kind, each.spent.nano_usd > 0), each
    assert 0 == ledger.held
    assert len(server.batches.made) == (0 if place == "create" else 1)


def test_passing_fault_is_tried_again_but_no_batch_is_made_twice() -> None:
    """A poll that fails is repeated; a creation that nobody heard of is not, for it may have been made."""
    ledger = Ledger()
    faults = Batches(right, create=[Fail(529, "overloaded_error")], poll=[Drop(), Fail(500, "api_error")])
    with Scripted(batches=faults) as server:
        [answer] = asyncio.run(settle_all([small()], batch(server.url, ledger, retries=2)))
    assert isinstance(answer, Answer)

    with Scripted(batches=Batches(right, create=[Drop()])) as server:
        [failure] = asyncio.run(settle_all([small()], batch(server.url, ledger, retries=2)))
    assert isinstance(failure, Failure)
    assert ("connection", 1) == (failure.kind, len(server.log))


def test_batch_that_never_ends_is_stopped() -> None:
    """After its time a batch is cancelled and booked at its worst; so it is when nobody waits any more."""
    ledger = Ledger()
    with Scripted(batches=Batches(right, looks=10**9)) as server:
        [failure] = asyncio.run(settle_all([small()], batch(server.url, ledger, seconds=0.3)))

        async def interrupted() -> None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(0.3):
                    await settle_all([small()], batch(server.url, ledger))

        asyncio.run(interrupted())

    assert isinstance(failure, Failure)
    assert "timeout" == failure.kind
    assert 2 == server.batches.cancelled
    assert 0 == ledger.held
    assert ledger.spent.nano_usd > 2 * 8000 * 5000


def test_cap_leaves_tasks_out() -> None:
    """Tasks whose worst case does not fit under the cap any more are not part of the batch."""
    worst = half(prices()[MODEL].worst(2000, 8000))
    ledger = Ledger(3 * worst)
    with Scripted(batches=Batches(right)) as server:
        given = asyncio.run(settle_all(list(map(small, range(5))), batch(server.url, ledger)))

    kinds = [each.kind if isinstance(each, Failure) else "" for each in given]
    assert kinds.count("budget") == 5 - len(server.batches.made[0]) > 0
    assert ledger.spent.nano_usd <= 3 * worst


def test_results_come_from_the_service_that_was_asked() -> None:
    """An address of results on another machine is refused: the key would go there."""
    with Scripted() as other, Scripted(batches=Batches(right, address=other.url)) as server:
        [failure] = asyncio.run(settle_all([small()], batch(server.url, Ledger())))

    assert isinstance(failure, Failure)
    assert ("malformed", []) == (failure.kind, other.log)


def test_only_the_api_sends_batches(key: str) -> None:
    """Other analysts refuse the option."""
    with pytest.raises(SettingsError, match="only --analyst api"):
        choose("sdk", batch=True, settings=Settings())

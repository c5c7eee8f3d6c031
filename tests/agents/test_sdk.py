"""The agent backend: the real SDK and its bundled program against a scripted service."""

import os
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import claude_agent_sdk
import pytest

from forwardbook.agents.analyst import Answer, Failure
from forwardbook.agents.ledger import Ledger

from .conftest import Sum, ask, sdk, small
from .faults import FAULTS
from .script import Hang, say, tool_results, use
from .server import Scripted

PROGRAM = Path(claude_agent_sdk.__file__).parent / "_bundled" / "claude"
pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="the SDK came without its program")
QUICK = ("429", "cut stream", "refusal")
"""Faults that are tried each time; each starts the program once more, so the others are slow together."""
TABLE = [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in FAULTS]
RIGHT = use("StructuredOutput", {"total": 4, "reasoning": "two and two"})
WRONG = use("StructuredOutput", {"total": 5})


def test_refused_answer_is_mended() -> None:
    """The model reads facts, then the checker's words after a wrong answer, and its right one is taken."""
    steps = [
        say(use("mcp__facts__facts", {})),
        lambda body: say(WRONG) if "page 1 of 2" in tool_results(body) else say("?"),
        lambda body: say(RIGHT) if "measured 4" in tool_results(body) else say("?"),
    ]
    ledger = Ledger()
    with Scripted(steps, forever=None) as server:
        [answer] = ask(sdk(server.url, ledger), small())

    assert isinstance(answer, Answer), (answer, [b["messages"][-1] for b in server.bodies])
    assert Sum(total=4, reasoning="two and two") == answer.value
    assert ("predicted 5, measured 4",) == answer.attempts
    assert server.pos in (3, 4)
    assert len(server.bodies) * 1000 == ledger.spent.input_tokens
    assert len(server.bodies) == ledger.spent.requests


def left_over() -> list[str]:
    """Processes and folders of sessions that are over."""
    found = [path.name for path in Path(tempfile.gettempdir()).glob("forwardbook-agent-*")]
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if b"forwardbook-agent-" in (folder / "environ").read_bytes() and int(folder.name) != os.getpid():
                found.append((folder / "cmdline").read_text()[:80])
        except OSError:
            continue
    return found


@pytest.mark.parametrize("name", TABLE)
def test_fault_has_its_kind(name: str) -> None:
    """Each fault ends in its own kind of failure, in time; no process, folder or reservation is left."""
    step, kind = FAULTS[name]
    ledger = Ledger.of_usd(100)
    begin = time.monotonic()
    with Scripted(forever=lambda body: step) as server:
        [failure] = ask(sdk(server.url, ledger, request_seconds=3.0), small(seconds=30))

    assert isinstance(failure, Failure)
    assert kind == failure.kind, failure.detail
    assert time.monotonic() - begin < 40
    assert 0 == ledger.held
    assert failure.spent == ledger.spent
    assert [] == left_over()


@pytest.mark.slow
def test_refused_connection() -> None:
    """Where nobody listens the failure is one of connection."""
    with Scripted() as server:
        url = server.url
    [failure] = ask(sdk(url), small())

    assert isinstance(failure, Failure)
    assert "connection" == failure.kind, failure.detail


def test_task_ends_in_time() -> None:
    """The limit of a task ends the program; what nobody told the cost of is booked at its worst."""
    ledger = Ledger()
    begin = time.monotonic()
    with Scripted([Hang(60)]) as server:
        [failure] = ask(sdk(server.url, ledger), small(seconds=4))

    assert isinstance(failure, Failure)
    assert "timeout" == failure.kind
    assert time.monotonic() - begin < 20
    assert ledger.spent.nano_usd > 0
    assert [] == left_over()


@pytest.mark.slow
def test_turns_are_limited() -> None:
    """A model that only reads ends at the limit of turns."""
    with Scripted(forever=lambda body: say(use("mcp__facts__facts", {}))) as server:
        [failure] = ask(sdk(server.url), small(turns=3))

    assert isinstance(failure, Failure)
    assert ("turns", 3) == (failure.kind, len(server.bodies))


@pytest.mark.slow
def test_liar_ends_invalid() -> None:
    """A model that keeps submitting what is wrong is given up, with every reason told."""
    with Scripted(forever=lambda body: say(WRONG)) as server:
        [failure] = ask(sdk(server.url), small(attempts=3))

    assert isinstance(failure, Failure)
    assert ("invalid", 3) == (failure.kind, len(failure.attempts))


def test_budget_is_kept() -> None:
    """A session that could exceed the cap never starts."""
    with Scripted() as server:
        [failure] = ask(sdk(server.url, Ledger.of_usd(0.01)), small())

    assert isinstance(failure, Failure)
    assert ("budget", 0) == (failure.kind, len(server.log))


def test_session_ends_at_its_share_of_the_cap() -> None:
    """Under a cap that does not cover the worst case a session runs, and ends before it is exceeded."""
    dear = lambda body: say(use("mcp__facts__facts", {}), input_tokens=150_000, output_tokens=8000)  # noqa: E731
    ledger = Ledger.of_usd(3)
    with Scripted(forever=dear) as server:
        [failure] = ask(sdk(server.url, ledger), small())

    assert isinstance(failure, Failure)
    assert "budget" == failure.kind, failure.detail
    assert 1 < len(server.bodies) < 8
    assert 0 < ledger.spent.nano_usd < 3 * 10**9


DOCUMENTATION = """\
import sys
from mcp.server.mcpserver import MCPServer
server = MCPServer("library")
@server.tool()
def look_up(name: str) -> str:
    return "documented: " + name
@server.tool()
def write_down(name: str) -> str:
    open(sys.argv[1], "w").close()
    return "written"
server.run()
"""


@pytest.mark.slow
def test_user_names_documentation(tmp_path: Path) -> None:
    """A server of the user's own configuration answers the writer, with the tools that it names alone."""
    script = tmp_path / "library.py"
    script.write_text(DOCUMENTATION)
    named = {"command": sys.executable, "args": [str(script), str(tmp_path / "mark")], "tools": ["look_up"]}
    steps = [
        say(use("mcp__library__look_up", {"name": "add"}), use("mcp__library__write_down", {"name": "x"})),
        say(RIGHT),
        say("done"),
    ]
    for consults in (True, False):
        with Scripted(steps) as server:
            analyst = sdk(server.url, documentation={"library": named})
            [answer] = ask(analyst, replace(small(), consults=consults))

        assert isinstance(answer, Answer), answer
        assert consults == ("documented: add" in tool_results(server.bodies[1]))
        assert not (tmp_path / "mark").exists()

"""The agent backend: the real SDK and its bundled program against a scripted service."""

from pathlib import Path

import claude_agent_sdk
import pytest

from forwardbook.agents.analyst import Answer
from forwardbook.agents.ledger import Ledger

from .conftest import Sum, ask, sdk, small
from .script import say, tool_results, use
from .server import Scripted

PROGRAM = Path(claude_agent_sdk.__file__).parent / "_bundled" / "claude"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PROGRAM.exists(), reason="the SDK came without its program"),
]
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

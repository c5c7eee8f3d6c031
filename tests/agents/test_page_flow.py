"""The prose of a page, from an invented function to what is published, through both live backends."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from forwardbook.agents.choose import Chosen
from forwardbook.pipeline.explain.pages import Report, Request, explain

from .conftest import api, sdk
from .script import Json, say, tool_results, use
from .server import Scripted

Typed = Callable[..., tuple[int, str, str]]
CODE = '''\
"""A till."""


class Till:
    """Counts money."""

    def __init__(self) -> None:
        self.total = 0

    def add(self, amount: int) -> int:
        """Put money in."""
        self.total += check(amount)
        return self.total


def check(amount: int) -> int:
    """Refuse what is negative."""
    if amount < 0:
        raise ValueError("negative")
    return amount
'''
DIAGRAM = """\
sequenceDiagram
    participant Till
    participant check
    Till->>check: check(amount)"""
GOOD: list[Json] = [
    {"kind": "heading", "text": "The main path"},
    {"kind": "paragraph", "text": "`Till.add` calls `check` before it counts. `check` raises `ValueError`."},
    {"kind": "paragraph", "text": "Nobody needs a larger till on a quiet day."},
    {"kind": "bullets", "items": ["`Till` (`till.py:4-13`) counts.", "It is calm."]},
    {
        "kind": "diagram",
        "text": DIAGRAM,
    },
]
BAD: list[Json] = [
    {"kind": "paragraph", "text": "`Till.withdraw` gives money back."},
    {"kind": "paragraph", "text": "`check` (`till.py:3-9`) refuses."},
    {"kind": "diagram", "text": "sequenceDiagram\n    participant Till\n    Till->>"},
]
SUBMIT = {"api": "submit", "sdk": "StructuredOutput"}
BACKENDS = ["api", "sdk"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with till.py; what is kept of runs lies in it too."""
    for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "kept"))
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "till.py").write_text(CODE)
    return tmp_path


def written(backend: str, url: str, folder: Path) -> tuple[Report, str, Chosen]:
    """One run, and its page."""
    made = {"api": api, "sdk": sdk}[backend](url)
    chosen = Chosen(backend, made, made.settings, made.ledger)  # type: ignore[arg-type]
    code = folder / "code"
    report = explain(Request((code / "till.py",), out=folder / "out", root=code, chosen=chosen))
    return report, (folder / "out" / "till.md").read_text(), chosen


@pytest.mark.parametrize("backend", BACKENDS)
def test_bad_page_is_bounced_with_reasons(backend: str, folder: Path) -> None:
    """An invented method, a wrong span and a broken diagram come back as reasons; mended, it is published."""
    reasons: list[str] = []

    def mend(body: Json) -> object:
        reasons.append(tool_results(body))
        return say(use(SUBMIT[backend], {"blocks": GOOD}))

    with Scripted([say(use(SUBMIT[backend], {"blocks": BAD})), mend, say("done")]) as server:  # type: ignore[list-item]
        report, page, chosen = written(backend, server.url, folder)

    [read] = reasons
    assert "withdraw" in read
    assert "till.py:16-20" in read
    assert "grammar" in read
    assert not report.failed
    assert "`Till.add` calls `check` before it counts." in page
    assert "Nobody needs a larger till on a quiet day. _(not verified)_" in page
    assert "- It is calm. _(not verified)_" in page
    assert "counts. _(not verified)_" not in page
    assert "Till->>check: check(amount)" in page
    assert f"Written by `{chosen.settings.model}`" in page
    assert chosen.ledger.spent.usd > 0


FAULTS = {
    "invented": ([BAD[0]], ("withdraw",), ("till.py:16-20", "grammar")),
    "lines": ([BAD[1]], ("till.py:16-20",), ("withdraw", "grammar")),
    "diagram": ([BAD[2]], ("grammar",), ("withdraw", "till.py:16-20")),
    "all": (BAD, ("withdraw", "till.py:16-20", "grammar"), ()),
}


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_alone_is_enough(name: str, folder: Path) -> None:
    """An invented method, wrong lines or a broken diagram beside prose that holds: each bounces the page."""
    bad, said, unsaid = FAULTS[name]
    reasons: list[str] = []

    def mend(body: Json) -> object:
        reasons.append(tool_results(body))
        return say(use("submit", {"blocks": GOOD}))

    with Scripted([say(use("submit", {"blocks": [*GOOD, *bad]})), mend]) as server:  # type: ignore[list-item]
        report, page, _ = written("api", server.url, folder)

    [read] = reasons
    assert all(words in read for words in said), read
    assert not any(words in read for words in unsaid), read
    assert not report.failed
    assert "`Till.add` calls `check` before it counts." in page
    assert "withdraw" not in page


def doubt(quote: str, line: int = 17) -> Json:
    """A list of one doubt."""
    return {
        "doubts": [{"quote": quote, "why": "Zero is let through\x1b[2J.", "line_start": line, "line_end": 19}]
    }


@pytest.fixture
def typed(folder: Path, monkeypatch: pytest.MonkeyPatch, command: Typed) -> Typed:
    """Runs `explain` as it is typed; the user's configuration names the scripted service."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "kept"))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test-key")
    path = folder / "kept" / "forwardbook" / "config.toml"
    path.parent.mkdir(parents=True)

    def call(url: str, *arguments: str) -> tuple[int, str, str]:
        path.write_text(f'[agents]\nbase_url = "{url}"\nretries = 0\n')
        code_folder = str(folder / "code")
        whole = ("explain", f"{code_folder}/till.py", "--root", code_folder, "--out", folder / "out")
        return command(*whole, *arguments)

    return call


def test_reviewer_lists_doubts(typed: Typed, folder: Path) -> None:
    """`explain --review`: doubts that quote what the page does not say bounce; those that do are listed."""
    quote = "`check` raises `ValueError`."

    def mend(body: Json) -> object:
        assert "the page does not say" in tool_results(body)
        return say(use("submit", doubt(quote)))

    steps = [
        say(use("submit", {"blocks": GOOD})),
        say(use("submit", doubt("It cannot fail."))),
        mend,
    ]
    with Scripted(steps) as server:  # type: ignore[arg-type]
        code, _, err = typed(server.url, "--analyst", "api", "--review")
        again, _, repeated = typed(server.url, "--analyst", "api", "--review")

    page = (folder / "out" / "till.md").read_text()
    assert (0, 3, 3) == (code, server.pos, len(server.bodies)), err
    assert "You review a finished documentation page" in server.bodies[1]["system"][0]["text"]
    assert quote in server.bodies[1]["messages"][0]["content"]
    [line] = [line for line in err.splitlines() if "doubt of" in line]
    assert "doubt of claude-sonnet-5-5: " in line and "Zero is let through[2J. (till.py:17-19)" in line
    assert "\x1b" not in err
    assert "spent: reviewer: $" in err and "spent: page_writer: $" in err
    assert "doubt" not in page
    assert (0, True) == (again, line in repeated.splitlines())


def test_review_wants_an_analyst(typed: Typed, folder: Path) -> None:
    """`--review` without anybody chosen is wrong usage; a dry run shows both questions and sends nothing."""
    with Scripted() as server:
        code, _, err = typed(server.url, "--analyst", "static", "--review")
        dry, out, shown = typed(server.url, "--analyst", "api", "--review", "--dry-run")

    assert (2, True) == (code, "say who reviews" in err)
    assert (0, []) == (dry, server.log)
    assert 2 == out.count('"max_tokens"')
    assert "till.md, to be reviewed:" in shown
    assert not (folder / "out").exists()


def test_page_without_prose_is_still_written(folder: Path) -> None:
    """A writer that keeps inventing adds nothing; the page is written, the diagnostics tell why."""
    with Scripted(forever=lambda body: say(use("submit", {"blocks": BAD}))) as server:
        report, page, _ = written("api", server.url, folder)

    assert not report.failed
    assert "How it works" not in page
    assert any("unresolved (invalid)" in line for line in report.problems)
    [path] = (folder / "kept").rglob("*_diagnostics.json")
    told = json.loads(path.read_text())
    assert ("page_writer", 5) == (told["role"], len(told["attempts"]))


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "[here](javascript:alert(1))",
        "![x](http://evil.example/x.png)",
        "{{ macro }}",
    ],
)
def test_text_of_a_model_is_no_markup(text: str, folder: Path) -> None:
    """HTML, links, images and templates that a model writes are shown as they are."""
    blocks = [{"kind": "paragraph", "text": f"Mind this: {text}"}]
    with Scripted(forever=lambda body: say(use("submit", {"blocks": blocks}))) as server:
        _, page, _ = written("api", server.url, folder)

    assert "Mind this" in page
    assert text not in page


def test_diagram_may_hold_no_directive(folder: Path) -> None:
    """A diagram that configures Mermaid or opens links is refused."""
    for line in ("%%{init: {'securityLevel': 'loose'}}%%\n", ""):
        text = f"{line}flowchart TD\n    Till --> check\n" + ("" if line else "    click Till href 'x'\n")
        blocks = [{"kind": "diagram", "text": text}]
        with Scripted(forever=lambda body, b=blocks: say(use("submit", {"blocks": b}))) as server:  # type: ignore[misc]
            report, page, _ = written("api", server.url, folder)

        assert "How it works" not in page
        assert any("unresolved (invalid)" in problem for problem in report.problems)


def test_page_is_not_asked_twice(folder: Path) -> None:
    """A page whose sources did not change costs nothing the second time."""
    with Scripted(forever=lambda body: say(use("submit", {"blocks": GOOD}))) as server:
        _, first, _ = written("api", server.url, folder)
        _, second, chosen = written("api", server.url, folder)

    assert first == second
    assert 1 == len(server.bodies)
    assert 0 == chosen.ledger.spent.requests

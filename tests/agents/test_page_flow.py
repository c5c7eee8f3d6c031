"""The prose of a page, from an invented function to what is published, through both live backends."""

import json
from pathlib import Path

import pytest

from forwardbook.agents.choose import Chosen
from forwardbook.pipeline.explain import Report, Request, explain

from .conftest import api, sdk
from .script import Json, say, tool_results, use
from .server import Scripted

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
BACKENDS = [pytest.param("api"), pytest.param("sdk", marks=pytest.mark.slow)]


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

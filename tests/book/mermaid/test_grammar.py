"""Diagrams are judged by Mermaid's own parser, and what it cannot be asked is never called right."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from forwardbook.book.mermaid import engine
from forwardbook.book.mermaid.grammar import MAX_TEXT, Grammar, Parsed, key

VALID = {
    "sequence": "sequenceDiagram\n participant A as One<br/>two\n loop each\n A->>A: f(x)#59;\n end",
    "class": 'classDiagram\n class C1["a.B"] {\n +f(x) int\n }\n C1 <|-- C2',
    "flowchart": 'flowchart LR\n A["x.py"] -->|"imports"| B(["y"])',
    "an unquoted alias": "sequenceDiagram\n participant GPU as GPU Device 0\n GPU->>GPU: run",
    "a quoted alias, which lint finds": 'sequenceDiagram\n participant A as "One"\n A->>A: run',
    "an undeclared participant, which lint finds": "sequenceDiagram\n participant A\n A->>B: run",
}
INVALID = {
    "a semicolon": ("sequenceDiagram\n participant A\n A->>A: f; g(x)", 3),
    "behind a comment": ("sequenceDiagram\n%% a comment\n participant A\n A->>A: f; g(x)", 4),
    "brackets in a label": ("flowchart TD\n A[run() -> None]", 2),
    "no diagram": ("nonsense", 1),
}


@pytest.fixture(scope="module")
def grammar() -> Iterator[Grammar]:
    """One engine for all tests of this file."""
    one = Grammar()
    yield one
    one.close()


@pytest.mark.parametrize("name", VALID)
def test_valid(name: str, grammar: Grammar) -> None:
    """Mermaid takes it."""
    assert Parsed(True) == grammar.check(VALID[name])


@pytest.mark.parametrize("name", INVALID)
def test_invalid(name: str, grammar: Grammar) -> None:
    """Mermaid refuses it, on the line of the text as given."""
    text, line = INVALID[name]
    found = grammar.check(text)

    assert (False, line) == (found.ok, found.line)
    assert found.message


def test_unclosed_block(grammar: Grammar) -> None:
    """A loop without its end is refused."""
    assert grammar.check("sequenceDiagram\n participant A\n loop x\n A->>A: f").ok is False


def test_too_long(grammar: Grammar) -> None:
    """What Mermaid would not draw for its length is refused without asking."""
    assert grammar.check("sequenceDiagram\n" + " " * MAX_TEXT).ok is False


def test_kept_verdicts_are_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A verdict of the store is taken as it is, and no engine is started."""
    text = "sequenceDiagram\n A->>A: f"
    kept = Parsed(False, 7, "kept")
    grammar = Grammar({key(text): kept})

    grammar.close()
    monkeypatch.setattr("forwardbook.book.mermaid.grammar.Engine", None)

    assert kept == grammar.check(text)


def test_missing_package_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Mermaid's JavaScript the verdict is neither right nor wrong, and says what to install."""
    monkeypatch.setattr(engine, "find_spec", lambda name: None)
    grammar = Grammar()
    grammar.close()
    found = grammar.check("sequenceDiagram\n A->>A: f")

    assert found.ok is None
    assert "pip install mermaidx" in found.message


def test_missing_engine_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the engine too; and such a verdict is not kept."""
    monkeypatch.setitem(sys.modules, "py_mini_racer", None)
    store: dict[str, Parsed] = {}
    grammar = Grammar(store)
    grammar.close()
    found = grammar.check("sequenceDiagram\n A->>A: f")

    assert found.ok is None
    assert "pip install mini-racer" in found.message
    assert {} == store


def test_out_of_time_is_unknown_and_the_next_is_answered() -> None:
    """A diagram that takes too long is not judged; the engine is made anew."""
    grammar = Grammar(seconds=0.05)
    edges = "\n".join(f" class C{n}\n C{n} <|-- C{n + 1} : has" for n in range(900))
    slow = grammar.check("classDiagram\n" + edges)
    grammar.seconds = 20.0
    found = grammar.check(VALID["flowchart"])
    grammar.close()

    assert slow.ok in (None, True)
    assert Parsed(True) == found


def test_a_program_may_end_early() -> None:
    """A program that ends while diagrams wait to be judged does end."""
    program = (
        "from forwardbook.book.mermaid.grammar import Grammar\n"
        "grammar = Grammar()\n"
        "asked = [grammar.submit(f'sequenceDiagram\\n A->>A: f({n})') for n in range(200)]\n"
        "asked[0].result()\n"
        "raise SystemExit(3)\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], timeout=60, check=False)

    assert 3 == ended.returncode

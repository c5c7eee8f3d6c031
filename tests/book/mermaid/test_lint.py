"""Lint finds what Mermaid's grammar takes and is still wrong."""

from __future__ import annotations

import pytest

from forwardbook.book.mermaid.lint import MAX_EDGES, MAX_MESSAGES, lint
from forwardbook.book.mermaid.reading import plain_text, read_diagram

HEAD = "sequenceDiagram\n participant A\n participant B as Second one\n"
FAULTS = {
    "quotes": (HEAD + ' participant C as "Third"\n', 4),
    "newline": (HEAD + " A->>B: one\\ntwo\n", 4),
    "undeclared": (HEAD + " A->>C: f()\n", 4),
    "semicolon": (HEAD + " A->>B: f(); g()\n", 4),
    "reserved": (HEAD + " participant end\n", 4),
    "twice": (HEAD + " participant A as First\n", 4),
    "size": (HEAD + " A->>B: f()\n" * (MAX_MESSAGES + 1), 1),
}
CLEAN = (
    HEAD + " Note over A,B: both\n loop each\n A->>+B: f(x#59; y)<br/>twice\n B-->>-A: text\n end\n",
    "classDiagram\n class A {\n +end() int\n }\n A <|-- B\n",
    'flowchart LR\n LOOP["loop"] --> End\n %% a \\n comment\n',
    "pie\n title end\n",
)


@pytest.mark.parametrize("rule", FAULTS)
def test_fault(rule: str) -> None:
    """The fault is found once, by its rule, on its line."""
    text, line = FAULTS[rule]

    assert [(rule, line)] == [(fault.rule, fault.line) for fault in lint(text)]


@pytest.mark.parametrize("text", CLEAN)
def test_clean(text: str) -> None:
    """A clean diagram has no fault."""
    assert () == lint(text)


def test_too_many_edges() -> None:
    """A flowchart with more edges than Mermaid draws is a fault."""
    edges = "\n".join(f" n{number} --> n{number + 1}" for number in range(MAX_EDGES + 1))

    assert ["size"] == [fault.rule for fault in lint("flowchart LR\n" + edges)]


def test_undeclared_in_a_note_or_activation() -> None:
    """Notes and activations name participants too."""
    found = lint(HEAD + " Note over A,C: x\n activate D\n")

    assert ["the participant C is not declared", "the participant D is not declared"] == [
        fault.message for fault in found
    ]


def test_reading_of_a_flowchart() -> None:
    """Chains, groups, labels of nodes and of arrows."""
    diagram = read_diagram('flowchart LR\n a["x.py"] -->|imports| b(y) --> c & d\n a -- uses --> c')

    assert [("a", "b", "imports"), ("b", "c", ""), ("b", "d", ""), ("a", "c", "uses")] == [
        (one.source, one.target, one.text) for one in diagram.arrows
    ]
    assert ["x.py", "y", "c"] == [diagram.label(name) for name in ("a", "b", "c")]


def test_reading_of_classes() -> None:
    """Members in braces and behind a colon, labels, arrows in both directions."""
    diagram = read_diagram(
        'classDiagram\n class A["p.A"] {\n <<abstract>>\n +f(x) int\n }\n A : +y\n A <|-- B\n C --|> A : is'
    )

    assert [("A", "+f(x) int"), ("A", "+y")] == [(one.owner, one.text) for one in diagram.members]
    assert [("A", "<|--", "B"), ("C", "--|>", "A")] == [
        (one.source, one.form, one.target) for one in diagram.arrows
    ]
    assert "p.A" == diagram.label("A")


def test_escapes() -> None:
    """Escapes stand for their characters, a break for a new line."""
    assert 'f("a"; b)\nnext' == plain_text("f(#quot;a#34;#59; b)<br/>next")

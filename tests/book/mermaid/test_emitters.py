"""Emitters: whatever a source holds, the diagrams parse with Mermaid's own grammar and are free of faults."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forwardbook.book.mermaid.classes import Box, Relation, class_diagram
from forwardbook.book.mermaid.flowchart import flowchart
from forwardbook.book.mermaid.grammar import Grammar
from forwardbook.book.mermaid.labels import call_text, label
from forwardbook.book.mermaid.lint import lint
from forwardbook.book.mermaid.reading import plain_text, read_diagram
from forwardbook.book.mermaid.sequence import Frame, Message, Part, sequence_diagram

NASTY = (
    "a;b",
    "end",
    "loop x",
    "\\n",
    '"q"',
    "<script>alert(1)</script>",
    "#quot;",
    "x: y",
    "`b`",
    "{a: 1}",
    "%% c",
    "%%{init: {}}%%",
    "style: #1;",
    "~T~",
    "a|b",
    "[x]",
    "(x)",
    "->> B: f",
    "---",
    "javascript:alert(1)",
    "x\u2028y",
    "日本 語",
    "$$x^2$$",
    "&lt;",
    "click A",
    "end\nend",
    "note right of A: x",
    "…",
    "as",
    "<br/>",
    "lambda: x",
    "-1",
    "1)",
    "_x_",
    "**k",
    "'''",
    "participant X as Y",
    "\x00",
    "]",
    ")",
    "}",
)
MARKS = st.text(alphabet="<>`*_#[](){}!|\\&;:.-+=~$\"'\n 1aend%@/^,", min_size=1, max_size=20)


@pytest.fixture(scope="module")
def grammar() -> Iterator[Grammar]:
    """Mermaid's own grammar."""
    found = Grammar()
    yield found
    found.close()


def drawn(text: str) -> tuple[str, str, str]:
    """A text in every place of every kind of diagram."""
    other = f"B{text}"
    inside = (Message(other, text, text),)
    frames = (
        Frame("loop", (Part(text, inside),)),
        Frame("alt", (Part(text, inside), Part(text, inside))),
        Frame("par", (Part(text, inside), Part(text, inside))),
        Frame("opt", (Part(text, inside),)),
    )
    relations = (Relation(text, "inherits from", other), Relation(text, "calls", other))
    return (
        sequence_diagram((Message(text, other, text), *frames)),
        class_diagram((Box(text, (text,), (f"{text}(x)",), text),), relations),
        flowchart((text,), ((text, other, text),), (text,)),
    )


@pytest.mark.parametrize("text", NASTY)
def test_no_text_breaks_a_diagram(text: str, grammar: Grammar) -> None:
    """Reserved words, quotes, semicolons and directives are labels and nothing else."""
    for diagram in drawn(text):
        assert grammar.check(diagram).ok, diagram
        assert () == lint(diagram), diagram


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=MARKS)
def test_no_mixture_of_marks_breaks_a_diagram(text: str, grammar: Grammar) -> None:
    """Mermaid's grammar takes any text that was made into a label."""
    for diagram in drawn(text):
        assert grammar.check(diagram).ok, diagram
        assert () == lint(diagram), diagram


@given(MARKS)
def test_a_label_reads_as_its_text(text: str) -> None:
    """The reader of diagrams gets back what was written, on one line."""
    assert " ".join(text.split()) == plain_text(label(text))


def test_every_participant_is_declared_once_and_in_order() -> None:
    """Given ones first, then as messages name them."""
    text = sequence_diagram((Message("b", "c", "f()"), Message("c", "a", "g()")), ("a",))
    found = read_diagram(text)
    assert ["a", "b", "c"] == [each.label for each in found.participants]
    assert [("P2", "P3", "f()"), ("P3", "P1", "g()")] == [
        (each.source, each.target, each.text) for each in found.arrows
    ]


def test_calls_show_whole_arguments_or_an_ellipsis() -> None:
    """An argument that does not fit is left out with all that follow."""
    assert "f(a, b=1)" == call_text("f", ("a", "b=1"))
    assert "f(aaaaaaaaaa, …)" == call_text("f", ("a" * 10, "b" * 10, "c"), width=20)


def test_inheritance_points_at_the_base() -> None:
    """The arrow's head is at the base, and members stand in their class."""
    found = read_diagram(
        class_diagram((Box("A", ("x",), ("f(y)",)),), (Relation("A", "inherits from", "B"),))
    )
    names = {each.name: each.label for each in found.participants}
    arrow = found.arrows[0]
    assert ("B", "<|--", "A") == (names[arrow.source], arrow.form, names[arrow.target])
    assert ["+x", "+f(y)"] == [each.text for each in found.members]

"""Inline text: whatever a source holds shows as itself and does nothing."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from forwardbook.analyzers.index.facts import Span
from forwardbook.book.inline import cite, clip, code, link, one_line, plain, prose, where

MARKS = st.text(alphabet="<>`*_#[](){}!|\\&;:.-+=~$\"'\n\r\t 1a/@^%é\u2028\u202e\x00", max_size=40)
READER = MarkdownIt("gfm-like", {"html": True, "linkify": False})

ATTEMPTS = (
    "<script>alert(1)</script>", "---", "# x", "- x", "1. x", "1) x", "> x", "```x", "~~~", "| a | b |",
    "[x](javascript:alert(1))", "![x](http://x/y.png)", "<!-- x -->", "&lt;b&gt;", "***x***", "__x__",
    "a\n===", "    code", "{{ x }}", "{: onclick=x }", "http://x.org", "\\<b>", "`a` b", "!!! note",
)  # fmt: skip


class Seen(HTMLParser):
    """The tags and the text of a piece of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_attempts_at_markup_are_one_paragraph_of_text() -> None:
    """No HTML, heading, rule, list, table, link, front matter or fence comes out of a text."""
    for text in ATTEMPTS:
        seen = Seen(READER.render(plain(text)))
        assert ["p"] == seen.tags, text
        assert one_line(text) == seen.text.strip(), text


@given(MARKS)
def test_any_text_reads_as_itself(text: str) -> None:
    """Rendered by another Markdown reader, the text is what it was on one line."""
    seen = Seen(READER.render("a " + plain(text)))
    assert ["p"] == seen.tags
    assert "a " + one_line(text) == seen.text.strip() or not one_line(text)


@given(MARKS)
def test_any_text_at_the_start_of_a_line_is_a_paragraph(text: str) -> None:
    """What begins a line begins no block."""
    seen = Seen(READER.render(plain(text)))
    assert seen.tags in (["p"], []) and one_line(text) == seen.text.strip()


@given(MARKS)
def test_any_code_span_holds_its_text(text: str) -> None:
    """Backticks inside of a span do not end it."""
    seen = Seen(READER.render("a " + code(text) + " b"))
    line = one_line(text)
    assert (["p", "code"] if line else ["p"]) == seen.tags
    assert f"a {line} b".split() == seen.text.split()


def test_citations_have_the_form_that_is_verified() -> None:
    """Symbol, path and lines stand in code spans."""
    assert "`Graph.add` (`a/b.py:10-42`)" == cite("Graph.add", "a/b.py", Span(10, 42))
    assert "`a/b.py:17`" == where("a/b.py", 17)


def test_links_lead_nowhere_else() -> None:
    """Characters that end a link's target are written as bytes."""
    assert "[x](a%20b%29.md#l-1)" == link("x", "a b).md#l-1")
    assert "[x](javascript%3Aalert%281%29)" == link("x", "javascript:alert(1)")


def test_docstring_roles_and_double_backticks_are_taken_off() -> None:
    """reStructuredText shows as the words it marks."""
    assert "a Graph of Node" == prose("a :class:`Graph` of ``Node``")
    assert "Node" == prose(":py:class:`~pkg.Node`").rpartition(".")[2]


def test_long_text_says_that_it_is_cut() -> None:
    """What is left out is shown by an ellipsis, and the width holds."""
    assert "abc…" == clip("abcdefgh", 4)
    assert "a b" == clip("a\n  b", 10)

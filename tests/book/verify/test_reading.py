"""Markdown is read by its lines, whatever it holds."""

from __future__ import annotations

import string
import time

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from forwardbook.book.verify import Verifier
from forwardbook.book.verify.inline import Place, read_inline, read_place
from forwardbook.book.verify.reading import cells_of, read_page

_MARKS = st.text(alphabet=string.ascii_letters + "`|#-_*[](){}<>:;.!~ \n\\/\"'0123456789", max_size=300)


@given(_MARKS)
def test_any_text_is_read(text: str) -> None:
    """No text is too odd, and every line number lies inside of the page."""
    page = read_page(text)
    numbers = [line.number for line in page.lines] + [row.line for one in page.tables for row in one.rows]

    assert all(1 <= number <= text.count("\n") + 1 for number in numbers)


@given(_MARKS)
def test_any_text_is_judged(verifier: Verifier, text: str) -> None:
    """The verifier takes any text without an error."""
    verifier.verify(text.replace("```mermaid", ""), "docs/any.md")


def test_headings_and_fences_as_another_reader_finds_them(pages: dict[str, str]) -> None:
    """Headings and fences of the pages stand on the lines where markdown-it finds them."""
    for text in pages.values():
        body = text.partition("\n---\n")[2]
        before = text.count("\n", 0, len(text) - len(body))
        tokens = MarkdownIt().parse(body)
        headings = [before + one.map[0] + 1 for one in tokens if one.type == "heading_open" and one.map]
        fences = [before + one.map[0] + 1 for one in tokens if one.type == "fence" and one.map]

        assert headings == [one.line for one in read_page(text).headings]
        assert fences == [one.line for one in read_page(text).fences]


def test_cells_keep_escaped_pipes() -> None:
    """A pipe behind a backslash belongs to its cell."""
    assert ("`m`", "`int | None`", "") == cells_of("| `m` | `int \\| None` |   |")


def test_places() -> None:
    """A place is a path with lines; an address with a port is none."""
    assert Place("a/b.py", 3, 9) == read_place("a/b.py:3-9")
    assert Place("a/b.py", 3, None) == read_place("a/b.py:3")
    assert Place("a/b.py", 3, 9) == read_place("a/b.py#L3-L9")
    assert read_place("localhost:8080") is None


def test_links_in_code_are_code() -> None:
    """A link inside a code span is part of the code."""
    inline = read_inline("`x[a](b)` and [`c`](d.md)")

    assert ("d.md",) == inline.links
    assert ["x[a](b)", "c"] == [span.text for span in inline.spans]


def test_hostile_lines_take_no_time() -> None:
    """Lines made to send a regular expression astray are read in seconds at most."""
    begin = time.process_time()
    for line in ("[" * 20_000, "\\" * 20_000, "`" * 20_000, "[\\" * 10_000, "|" * 20_000, "[a](" * 8_000):
        read_page(line + "\n| - |\n")
        read_inline(line)

    assert time.process_time() - begin < 4

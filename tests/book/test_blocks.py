"""Blocks and pages: tables keep their columns, fences their text, pages their checksum."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from forwardbook.book.blocks import (
    BlockError,
    Bullets,
    Code,
    Details,
    Heading,
    Paragraph,
    Quote,
    Table,
    markdown,
)
from forwardbook.book.inline import code, plain
from forwardbook.book.page import Page, is_untouched, page_name

MARKS = st.text(alphabet="<>`*_#[](){}!|\\&;:.-+=~$\"'\n 1a", max_size=30)
READER = MarkdownIt("gfm-like", {"html": True, "linkify": False})


@given(st.lists(st.tuples(MARKS, MARKS), min_size=1, max_size=4))
def test_every_row_has_as_many_cells_as_the_head(rows: list[tuple[str, str]]) -> None:
    """Another reader finds a table of two columns and as many rows."""
    table = Table(("A", "B"), tuple((code(a), plain(b)) for a, b in rows))
    kinds = [token.type for token in READER.parse(table.markdown())]
    assert (2 + 2 * len(rows), 1 + len(rows)) == (
        kinds.count("th_open") + kinds.count("td_open"),
        kinds.count("tr_open"),
    )
    assert kinds[0] == "table_open" and kinds[-1] == "table_close"


def test_a_row_of_another_length_is_refused() -> None:
    """The message names the table."""
    with pytest.raises(BlockError, match="A | B"):
        Table(("A", "B"), (("x",),))


@given(MARKS)
def test_a_fence_holds_whatever_it_quotes(text: str) -> None:
    """Backticks and tildes inside do not end it."""
    tokens = READER.parse(Code("python", text).markdown())
    assert ["fence"] == [token.type for token in tokens]
    assert text.strip("\n") == tokens[0].content.strip("\n")


@given(MARKS)
def test_a_quotation_is_nothing_but_text(text: str) -> None:
    """A docstring makes no block other than paragraphs in a quotation."""
    kinds = {token.type for token in READER.parse(Quote(text).markdown())}
    assert kinds <= {
        "blockquote_open", "blockquote_close", "paragraph_open", "paragraph_close", "inline",
    }  # fmt: skip


def test_blocks_stand_apart_and_empty_ones_are_left_out() -> None:
    """One blank line is between two blocks."""
    blocks = (Heading(1, "A"), Bullets(()), Paragraph("b\nc"), Bullets(("d", "e")))
    assert "# A\n\nb c\n\n- d\n- e" == markdown(blocks)


def test_what_is_folded_away_keeps_code_in_its_summary() -> None:
    """A summary is HTML: its code spans are tags, and what they hold is escaped."""
    text = Details(f"Flow of {code('a<b')}", (Paragraph("x"),)).markdown()
    assert "<summary>Flow of <code>a&lt;b</code></summary>\n\nx\n\n</details>" in text


def test_an_edited_page_is_told_from_an_untouched_one() -> None:
    """The checksum covers all that follows its line."""
    text = Page("a.md", {"path": 'x"\n---\ny'}, (Paragraph("b"),)).markdown()
    assert is_untouched(text) is True
    assert is_untouched(text.replace("b\n", "c\n")) is False
    assert is_untouched("# mine\n") is None


def test_front_matter_cannot_be_ended_by_what_it_holds() -> None:
    """A path with line breaks and rules stays one quoted value."""
    text = Page("a.md", {"path": "x\n---\n# y", "sources": {"a: b": "1"}}, ()).markdown()
    head = text.split("\n---\n")[0].split("\n")
    assert 5 == len(head) and head[2] == 'path: "x\\n---\\n# y"' and head[4] == '  "a: b": "1"'


def test_names_of_pages_are_lowercase_with_hyphens() -> None:
    """The suffix of source code is left out, that of a configuration file is not."""
    names = {"trt_cnclip_image384_min.py": "trt-cnclip-image384-min.md", "a/B_c.cu": "b-c.md",
             "x/__init__.py": "init.md", "pyproject.toml": "pyproject-toml.md", "a/.py": "py.md",
             "a/-.py": "file.md"}  # fmt: skip
    assert names == {path: page_name(path) for path in names}


def test_code_holds_nothing_that_a_terminal_obeys() -> None:
    """What it would obey is spelled as Python and JSON spell it, all else stands as it is."""
    shown = Code("python", 'red = "\x1b[31m\u202e"\n\tcafé = 1\n').markdown()

    assert '```python\nred = "\\u001b[31m\\u202e"\n\tcafé = 1\n```' == shown
    assert "\x1b[31m\u202e" == eval(shown.splitlines()[1].partition("=")[2])

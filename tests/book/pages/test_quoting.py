"""Quoting: text stands as code beside a line only where it begins on that line as it stands."""

from __future__ import annotations

from forwardbook.book.pages.quoting import begins_at, lines_of

LINES = ["x = f(", "    a,", "    # why", "    b,", ")", "if y: return"]


def test_text_is_found_whatever_its_layout() -> None:
    """Line breaks, spaces and a last comma do not matter; what is behind an ellipsis is not asked for."""
    assert begins_at(LINES, "f( a,", 1)
    assert begins_at(LINES, "f(a, …", 1)
    assert begins_at(LINES, "y", 6)


def test_text_of_another_line_is_not() -> None:
    """Only after an opening bracket may it begin further down."""
    assert begins_at(LINES, "a, # why", 1)
    assert not begins_at(LINES, "b", 1)
    assert not begins_at(LINES, "y", 5)
    assert not begins_at(LINES, "", 1)
    assert not begins_at(LINES, "x", 99)


def test_text_across_a_comment_is_not() -> None:
    """The source does not read so."""
    assert not begins_at(LINES, "f(a, b)", 1)


def test_lines_are_counted_in_the_encoding_of_the_file() -> None:
    """An unknown encoding is read as UTF-8, and every kind of line break counts."""
    assert ["a", "b"] == lines_of("a\nb".encode("utf-16"), "utf-16")
    assert ["a", "b", "c"] == lines_of(b"a\r\nb\rc", "no such")

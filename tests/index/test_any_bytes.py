"""Any bytes at all give facts whose lines lie inside the file, and which survive being kept."""

from __future__ import annotations

import ast
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from forwardbook.analyzers.index import codec
from forwardbook.analyzers.index.facts import FileFacts
from forwardbook.analyzers.index.one_file import index_file

PATHS = st.sampled_from(["a.py", "experimental/b.pyi", "c.ipynb", "d.yaml", "e.json", "f.toml", "g.md"])
PIECES = [
    "def ", "class ", "async ", "f", "A", "(", ")", "[", "]", "{", "}", ":", ",", ";", "\n", "\n    ",
    "\n  ", "\r", "@", "=", ":=", "->", "*", "**", ".", "'", '"', '"""', "f'", "t'", "r'", "b'", "\\",
    "#", "# coding: latin-1\n", "if ", "else", "elif ", "try", "except ", "except* ", "finally", "with ",
    "for ", "in ", "while ", "match ", "case ", "return ", "raise ", "yield ", "await ", "lambda ",
    "import ", "from ", "type ", "lazy ", "print ", "exec ", "global ", "__all__", "self", "None", "1",
    "0x", "é", "ﬁ", "日", "\x00", "\x0c", "\ufeff", "\ud7ff", "`", "<>", "- ", "&a ", "*a", "%", "!", "{{",
    "}}", "[[", "---\n", '"cells"', '"source"', "null", "`", "\t",
]  # fmt: skip
TEXT = Path(ast.__file__).read_text().splitlines(keepends=True)[300:420]


def check(path: str, data: bytes) -> FileFacts:
    """Reads a file, holds every line against its length, and takes the facts through the codec."""
    facts = index_file(path, data, "pkg.module")
    for each in facts.definitions:
        assert 1 <= each.decorated.start <= each.span.start <= each.span.end <= facts.lines
        assert each.decorated.end == each.span.end
    lines = [call.line for each in facts.definitions for call in (*each.calls, *each.reads, *each.raised)]
    lines += [found.line for found in (*facts.calls, *facts.imports, *facts.constants)]
    assert all(1 <= line <= max(1, facts.lines) for line in lines)
    assert all(
        0 <= problem.line <= facts.lines + 1 and problem.what.isprintable() for problem in facts.problems
    )
    assert facts == codec.decoded(codec.encoded(facts))
    codec.encoded(facts).encode("ascii")
    return facts


@settings(deadline=None)
@given(PATHS, st.binary(max_size=300))
def test_bytes(path: str, data: bytes) -> None:
    """No bytes raise an error."""
    check(path, data)


@settings(deadline=None, max_examples=400)
@given(PATHS, st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
def test_pieces(path: str, text: str) -> None:
    """Nor do the words of the languages in any order."""
    check(path, text.encode())


EDITS = st.tuples(
    st.integers(0, len(TEXT) - 1), st.sampled_from(["cut", "twice", "break", "shift"]), st.integers(0, 60)
)


@settings(deadline=None, max_examples=150)
@given(st.lists(EDITS, max_size=4))
def test_half_edited(edits: list[tuple[int, str, int]]) -> None:
    """Nor does real source with lines cut, doubled, broken and shifted; what is whole is found."""
    lines = list(TEXT)
    for number, what, column in edits:
        line = lines[number]
        lines[number] = {
            "cut": line[:column],
            "twice": line + line,
            "break": line[:column] + "\n" + line[column:],
            "shift": " " * (column % 9) + line,
        }[what]
    facts = check("a.py", "".join([*lines, "\ndef sentinel(x): return x.y()\n"]).encode())
    assert any(each.name == "sentinel" for each in facts.definitions)

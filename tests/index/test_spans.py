"""Spans are those that counting indentation gives, which shares nothing with a parser."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

import forwardbook
from forwardbook.analyzers.index.facts import FileFacts, Span
from forwardbook.analyzers.index.python import index_python

ROOM = Path(forwardbook.__file__).parent
STANDARD = Path(io.__file__).parent
FILES = [
    *sorted((ROOM / "analyzers/index").glob("*.py")),
    *sorted((ROOM / "analyzers/static").glob("*.py")),
    *(
        STANDARD / name
        for name in ("argparse.py", "dataclasses.py", "typing.py", "enum.py", "asyncio/tasks.py")
    ),
]


def spans_by_indentation(text: str) -> Iterator[tuple[str, int, int]]:
    """Name, first and last line of every `def` and `class`, told from the tokens alone."""
    tokens = [
        token
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type not in (tokenize.COMMENT, tokenize.NL)
    ]
    for number, token in enumerate(tokens):
        starts = number == 0 or tokens[number - 1].type in (
            tokenize.NEWLINE,
            tokenize.INDENT,
            tokenize.DEDENT,
        )
        head = number + (token.string == "async")
        if starts and tokens[head].string in ("def", "class"):
            yield tokens[head + 1].string, token.start[0], last_line(tokens, head)


def last_line(tokens: list[tokenize.TokenInfo], at: int) -> int:
    """The line on which what begins at a token ends: its own, or that of the block indented under it."""
    while tokens[at].type != tokenize.NEWLINE:
        at += 1
    if tokens[at + 1].type != tokenize.INDENT:
        return tokens[at].start[0]
    depth, at, last = 1, at + 2, tokens[at].start[0]
    while depth:
        depth += {tokenize.INDENT: 1, tokenize.DEDENT: -1}.get(tokens[at].type, 0)
        last = tokens[at].start[0] if tokens[at].type == tokenize.NEWLINE else last
        at += 1
    return last


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_real_files(path: Path) -> None:
    """Every definition of a real file has the span that its indentation shows, and no other is found."""
    data = path.read_bytes()
    facts = index_python(path.name, data, "")
    expected = sorted(spans_by_indentation(data.decode()), key=lambda found: found[1:])
    found = [(each.name, each.span.start, each.span.end) for each in facts.definitions]
    assert expected == sorted(found, key=lambda each: each[1:])


SOURCE = b'''\
import a

@first
@second(
    1,
)
async def decorated(
    x: int,  # comment
    *, y: str = "a  #b",
) -> None:
    """Doc."""
    if x:
        pass
    # a comment after the end

class One: x = 1; y = 2
@(
    third
)
class Two(One):

    def method(self): return """
    text"""

    class Inner:
        z = 3
'''


def spans(facts: FileFacts) -> dict[str, tuple[Span, Span]]:
    """Both spans of every definition by its qualified name."""
    return {each.qualname: (each.span, each.decorated) for each in facts.definitions}


def test_hand_counted() -> None:
    """Spans begin at `def` or, with decorators, at the first `@`, and end with the last statement."""
    facts = index_python("a.py", SOURCE, "a")
    assert {
        "decorated": (Span(7, 13), Span(3, 13)),
        "One": (Span(16, 16), Span(16, 16)),
        "Two": (Span(20, 26), Span(17, 26)),
        "Two.method": (Span(22, 23), Span(22, 23)),
        "Two.Inner": (Span(25, 26), Span(25, 26)),
    } == spans(facts)


def test_signature() -> None:
    """A signature is the source up to the colon on one line: comments go, strings stay as they are."""
    first = index_python("a.py", SOURCE, "a").definitions[0]
    assert 'async def decorated(x: int, *, y: str = "a  #b",) -> None' == first.signature
    assert ("first", "second(1,)") == first.decorators


def test_line_ends() -> None:
    """Lines end with `\\n`, `\\r\\n` or `\\r`, as in Python itself; a form feed ends none."""
    for end in (b"\n", b"\r\n", b"\r"):
        facts = index_python("a.py", end.join([b"x = '\x0c'", b"def f():", b"    pass", b""]), "")
        assert {"f": (Span(2, 3), Span(2, 3))} == spans(facts)
        assert 3 == facts.lines

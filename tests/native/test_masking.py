"""Masked copies against their original: same length, same lines, nothing else left."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forwardbook.analyzers.native.blanking import blank
from forwardbook.analyzers.native.masking import mask

TEXTS = st.text(alphabet="/*\"'\\\nR()a1#{}ifdefine \t", max_size=200).map(str.encode) | st.binary(
    max_size=200
)


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        (b"a // b\nc", b"a     \nc"),
        (b"a /* b\n c */ d", b"a     \n      d"),
        (b'f("// no", 1)', b'f("     ", 1)'),
        (b"x = '\"'; // y", b"x = ' ';     "),
        (b"1'000'000 /* 2 */", b"1'000'000        "),
        (b'R"a(")" // )a" b', b'R            " b'),
        (b"#error don't\nint a;", b"#error don't\nint a;"),
        (b"// a \\\n b\nc", b"      \n  \nc"),
    ],
)
def test_comments_and_strings_are_blank(text: bytes, bare: bytes) -> None:
    """Comments and the inside of strings are spaces; quotes, numbers and line ends stay."""
    assert bare == mask(text).bare


@given(TEXTS)
def test_every_position_stays(text: bytes) -> None:
    """Each copy is as long as the original and breaks its lines at the same bytes."""
    masks = mask(text)
    ends = [at for at, byte in enumerate(text) if byte == 0x0A]
    for copy in (masks.code, masks.bare, masks.flat, blank(masks).text):
        assert len(text) == len(copy)
        assert ends == [at for at, byte in enumerate(copy) if byte == 0x0A]


def test_a_position_is_a_line_and_a_column() -> None:
    """Lines count from 1, columns from 0, in bytes."""
    masks = mask("ä\nbc".encode())
    assert (2, 1) == (masks.line(4), masks.column(4))

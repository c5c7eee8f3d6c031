"""Any bytes at all give facts with lines inside the file, in time linear to its length."""

from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forwardbook.analyzers.index.facts import FileFacts
from forwardbook.analyzers.native import grammar as parsing
from forwardbook.analyzers.native import index_native, native_detail
from forwardbook.analyzers.native.blanking import blank
from forwardbook.analyzers.native.masking import mask

PATHS = st.sampled_from(["a.cu", "a.cpp", "a.h", "a.c", "CMakeLists.txt"])
PIECES = [
    "__global__ void ", "k<<<", "1, 2", ">>>(", "template <typename T>", "class A ", "{", "}", "(", ")", ";",
    "\n", "#if ", "#else\n", "#endif\n", "#define A(b) \\\n", '"', "'", "/*", "*/", "//", 'extern "C" ',
    "namespace n ", "::", "<", ">", "operator", "= default", "m.def(", "A_B ", "__launch_bounds__(", "throw ",
    "if (a)", "return ", "new ", "R\"x(", "enum ", "__shared__ ", "static_assert(", "\\", "\0", "é",
]  # fmt: skip


def check(path: str, data: bytes) -> FileFacts:
    """Reads everything and holds every line against the length of the file."""
    facts = index_native(path, data)
    native_detail(facts, data)
    for each in facts.definitions:
        assert 1 <= each.decorated.start <= each.span.start <= each.span.end <= facts.lines
    return facts


@given(PATHS, st.binary(max_size=400))
def test_bytes(path: str, data: bytes) -> None:
    """No bytes raise an error."""
    check(path, data)


@settings(deadline=None, max_examples=300)
@given(PATHS, st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
def test_pieces_of_code(path: str, text: str) -> None:
    """No order of pieces raises an error."""
    check(path, text.encode())


@settings(deadline=None)
@given(st.data())
def test_a_real_file_cut_and_damaged(stencil_bytes: bytes, data: st.DataObject) -> None:
    """A file cut anywhere, with a byte changed anywhere, is still read."""
    at = data.draw(st.integers(0, len(stencil_bytes)))
    byte = data.draw(st.integers(0, 255))
    check("a.cu", stencil_bytes[:at] + bytes((byte,)))
    check("a.cu", stencil_bytes[:at] + bytes((byte,)) + stencil_bytes[at + 1 :])


@pytest.mark.parametrize(
    "piece",
    [
        "(",
        "{",
        "*",
        "a.b().",
        "struct {",
        "__global__ f(",
        "// x\n",
        "k<<<",
        'm.def("a", ',
        "if(x)",
        "#if 1\n",
        "1,",
    ],
)
def test_no_text_takes_long(piece: str) -> None:
    """60,000 bytes of one piece take less than five seconds (most far less)."""
    started = process_time()
    check("a.cu", (piece * (60_000 // len(piece))).encode())
    assert process_time() - started < 5


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        ("int é;\n".encode(), "utf-8"),
        ("// é\nint a;\n".encode("latin-1"), "latin-1"),
        (b"\xef\xbb\xbfvoid f() {}\n", "utf-8-sig"),
        ("void f() {}\n".encode("utf-16"), "utf-16-le"),
    ],
)
def test_encodings(data: bytes, encoding: str) -> None:
    """The encoding is told, and what is defined is found in any of them."""
    facts = check("a.cpp", data)
    assert encoding == facts.encoding
    assert ["f"] * (b"f" in data) == [each.name for each in facts.definitions]


def test_nul_bytes_are_a_problem() -> None:
    """They are named with their line and read as spaces."""
    facts = check("a.cpp", b"int a;\nvoid \0f() {}\n")
    assert [2] == [each.line for each in facts.problems]
    assert ["f"] == [each.name for each in facts.definitions]


def test_a_query_and_a_walk_give_the_same(stencil_bytes: bytes) -> None:
    """The way for deep text finds the same nodes as the fast one."""
    from tree_sitter import Parser

    text = blank(mask(stencil_bytes)).text
    root = Parser(parsing._grammar(True)).parse(text).root_node
    queried = [(tag, node.start_byte, node.end_byte) for tag, node in parsing._queried(root, True)]
    assert queried == [(tag, node.start_byte, node.end_byte) for tag, node in parsing._walked(root)]


def test_giving_up_leaves_what_the_text_shows(stencil_bytes: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a tree directives, kernels and launches are still there, and the problem is named."""
    monkeypatch.setattr("forwardbook.analyzers.native.index.nodes_of", lambda text, cuda: None)
    facts = check("a.cu", stencil_bytes)
    assert ("none", 0) == (facts.parser, facts.problems[0].line)
    assert {"smooth_kernel", "clear"} == {each.name for each in facts.definitions if each.kind == "kernel"}
    assert 2 == len(facts.launches) + sum(len(each.launches) for each in facts.definitions)

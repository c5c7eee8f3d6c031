"""Turns C, C++ and CUDA text into the nodes of interest, through tree-sitter, with a bound on the work."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Literal

from forwardbook.analyzers.index.facts import Language

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar
    from tree_sitter import Node, Point, Query

_CUDA_WORDS = re.compile(rb"\b__(?:global|device|host|shared|constant|launch_bounds|forceinline)__|<<<(?!<)")
_CPP_WORDS = re.compile(
    rb"^\s*(?:class|template|namespace|using|public:|private:|constexpr|concept)\b|\w::\w|\bnullptr\b|\bstd::"
    rb"|\b(?:static_cast|virtual|noexcept|operator)\b",
    re.MULTILINE,
)
_CPP = ("cc", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "h++", "ipp", "inl", "tpp", "ixx", "cppm")
_SUFFIXES: dict[str, Language] = {"c": "c", "cu": "cuda", "cuh": "cuda", **dict.fromkeys(_CPP, "cpp")}

_PATTERNS = """
(namespace_definition) @namespace
(class_specifier body: (_)) @class
(struct_specifier body: (_)) @class
(union_specifier body: (_)) @class
(enum_specifier body: (_)) @class
(function_definition) @function
(template_declaration) @wrapper
(linkage_specification) @wrapper
(declaration) @declaration
(field_declaration) @field
(access_specifier) @access
(alias_declaration) @typedef
(type_definition) @typedef
(call_expression) @call
(throw_statement) @throw
(return_statement) @return
(if_statement) @branch
(ERROR) @error
"""
Tag = Literal[
    "namespace", "class", "function", "wrapper", "declaration", "field", "access", "typedef", "call", "throw",
    "return", "branch", "error",
]  # fmt: skip

_TAGS: dict[str, Tag] = {
    found["type"]: found["tag"]  # type: ignore[misc]
    for found in re.finditer(r"^\((?P<type>\w+).*@(?P<tag>\w+)", _PATTERNS, re.MULTILINE)
}
_NO_BRACES = bytes(byte for byte in range(256) if byte not in b"{}")
_STATEMENT = re.compile(rb"[;{}]")
_DEEPEST, _LONGEST, _WIDEST = 200, 10_000, 2_000


def language_of(path: str, flat: bytes) -> Language:
    """The language of a file from its suffix, for `.h` from what the text uses."""
    suffix = path.rpartition(".")[2].lower()
    language = _SUFFIXES.get(suffix, "c")
    if language == "cuda" or (language != "cpp" and suffix != "h"):
        return language
    if _CUDA_WORDS.search(flat):
        return "cuda"
    return "cpp" if language == "cpp" or _CPP_WORDS.search(flat) else "c"


@cache
def _grammar(cuda: bool) -> Grammar:
    """The grammar for CUDA, or the one for C++ (which reads C as well)."""
    import tree_sitter_cpp
    import tree_sitter_cuda
    from tree_sitter import Language as Grammar

    return Grammar(tree_sitter_cuda.language() if cuda else tree_sitter_cpp.language())


@cache
def _query(cuda: bool) -> Query:
    """The question for every node of interest at once."""
    from tree_sitter import Query

    return Query(_grammar(cuda), _PATTERNS)


def nodes_of(text: bytes, cuda: bool) -> list[tuple[Tag, Node]] | None:
    """Every node of interest in the order of the text, outer before inner; none where parsing is given up.

    The work is bounded by steps, not by the clock: the same text gives the same answer everywhere.
    """
    from tree_sitter import Parser

    allowed = 2_000 + len(text) // 8
    steps = 0

    def read(byte: int, _point: Point) -> bytes:
        return text[byte : byte + 65_536]

    def stop(_byte: int, _error: bool) -> bool:
        nonlocal steps
        steps += 1
        return steps > allowed

    try:
        tree = Parser(_grammar(cuda)).parse(read, progress_callback=stop)
    except ValueError:
        return None
    if _is_deep(text) or _is_wreck(tree.root_node):
        return list(_walked(tree.root_node))
    return _queried(tree.root_node, cuda)


def _queried(root: Node, cuda: bool) -> list[tuple[Tag, Node]]:
    """The nodes of interest by one query: the fastest way, but quadratic in deep nests and in wrecks."""
    from tree_sitter import QueryCursor

    captured = QueryCursor(_query(cuda)).captures(root)
    found = [
        (node.start_byte, -node.end_byte, tag, node) for tag, nodes in captured.items() for node in nodes
    ]
    found.sort(key=lambda one: one[:2])
    return [(tag, node) for _, _, tag, node in found]  # type: ignore[misc]


def _is_deep(text: bytes) -> bool:
    """Whether the tree may be deep: by braces, or by a statement as long as a file."""
    depth = 0
    for brace in text.translate(None, _NO_BRACES):
        depth += 1 if brace == 0x7B else -1
        if depth > _DEEPEST:
            return True
    return max(map(len, _STATEMENT.split(text))) > _LONGEST


def _is_wreck(root: Node) -> bool:
    """Whether a broken place holds very much."""
    level = [root]
    while level:
        if any(node.is_error and node.child_count > _WIDEST for node in level):
            return True
        level = [child for node in level if node.has_error for child in node.children]
    return False


def _walked(root: Node) -> Iterator[tuple[Tag, Node]]:
    """The nodes of interest, one by one, in time linear to the text whatever it is."""
    cursor = root.walk()
    while True:
        node = cursor.node
        tag = _TAGS.get(node.type) if node is not None else None
        if node is not None and tag is not None and (tag != "class" or node.child_by_field_name("body")):
            yield tag, node
        if cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return

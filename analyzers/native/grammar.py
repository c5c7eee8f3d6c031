"""Turns C, C++ and CUDA text into the nodes of interest, through tree-sitter, with a bound on the work."""

from __future__ import annotations

import re
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
    from tree_sitter import Parser, QueryCursor

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
    captured = QueryCursor(_query(cuda)).captures(tree.root_node)
    found = [
        (node.start_byte, -node.end_byte, tag, node) for tag, nodes in captured.items() for node in nodes
    ]
    found.sort(key=lambda one: one[:2])
    return [(tag, node) for _, _, tag, node in found]  # type: ignore[misc]

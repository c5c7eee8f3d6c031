"""Turns the bytes of one C, C++, CUDA or CMake file into its facts."""

from __future__ import annotations

import hashlib

from forwardbook.analyzers.index.facts import FileFacts, Problem
from forwardbook.analyzers.native.bindings import bindings_of
from forwardbook.analyzers.native.blanking import blank
from forwardbook.analyzers.native.cmake import index_cmake
from forwardbook.analyzers.native.drafts import Draft, name_launched
from forwardbook.analyzers.native.grammar import language_of, nodes_of
from forwardbook.analyzers.native.headers import Headers
from forwardbook.analyzers.native.lexical import (
    kernels_in_text,
    launches_in_text,
    macro_calls_in_text,
    owners,
)
from forwardbook.analyzers.native.masking import mask
from forwardbook.analyzers.native.preprocessor import includes_of, macros_of
from forwardbook.analyzers.native.ranges import Ranges
from forwardbook.analyzers.native.tree import Reading, read_nodes


def decoded(data: bytes) -> tuple[bytes, str]:
    """The text in UTF-8 without what breaks it (NUL), and the encoding it was in."""
    for mark, encoding in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        if data.startswith(mark):
            return data[2:].decode(encoding, "replace").encode(), encoding
    clean = data.replace(b"\0", b" ")
    if clean.startswith(b"\xef\xbb\xbf"):
        return b"   " + clean[3:], "utf-8-sig"
    try:
        clean.decode()
    except UnicodeDecodeError:
        return clean.decode("latin-1").encode(), "latin-1"
    return clean, "utf-8"


def index_native(path: str, data: bytes) -> FileFacts:
    """The facts of one native file; whatever the bytes are, what can be read of them is there."""
    if path.lower().endswith((".cmake", "cmakelists.txt")):
        return index_cmake(path, data)
    text, encoding = decoded(data)
    digest = hashlib.sha256(data).hexdigest()
    masks = mask(text)
    language = language_of(path, masks.flat)
    blanked = blank(masks)
    headers = Headers(masks, blanked.ranges, blanked.even)
    nodes = nodes_of(blanked.text, language == "cuda")
    reading = read_nodes(nodes or [], headers)
    macros, values = macros_of(headers)
    reading.drafts += kernels_in_text(headers, reading.drafts, reading.namespaces)
    drafts = sorted([*reading.drafts, *macros], key=lambda draft: (draft.start, -draft.end))
    _add_launches(reading, drafts, headers)
    _add_macro_calls(reading, drafts, headers)
    for draft in drafts:
        name_launched(draft)
    return FileFacts(
        path=path,
        language=language,
        digest=digest,
        lines=len(data.splitlines()) if encoding.startswith("utf-16") else _lines(data),
        encoding=encoding,
        parser="none" if nodes is None else "tree-sitter",
        docstring=headers.file_docstring(),
        definitions=tuple(draft.frozen() for draft in drafts),
        imports=includes_of(masks),
        constants=tuple(sorted([*reading.constants, *values], key=lambda one: one.line)),
        calls=tuple(reading.calls),
        bindings=bindings_of(masks),
        launches=tuple(reading.launches),
        has_main=any(draft.name == "main" and draft.kind == "function" for draft in drafts),
        problems=_problems(data, nodes is None, reading.errors),
    )


def _lines(data: bytes) -> int:
    """The number of lines; a last one without an end counts."""
    return data.count(b"\n") + (not data.endswith(b"\n") and bool(data))


def _add_launches(reading: Reading, drafts: list[Draft], headers: Headers) -> None:
    """Gives the launches that only the text shows to the definitions around them."""
    found = launches_in_text(headers.masks, reading.launched)
    around = owners(drafts, [byte for byte, _ in found])
    for (_, launch), draft in zip(found, around, strict=True):
        (draft.launches if draft is not None else reading.launches).append(launch)


def _add_macro_calls(reading: Reading, drafts: list[Draft], headers: Headers) -> None:
    """Gives the uses of macros that the grammar takes for something else to the bodies they stand in."""
    known = {(call.line, call.column) for draft in drafts for call in draft.calls}
    known |= {(call.line, call.column) for call in reading.calls}
    names = {draft.name for draft in drafts if draft.kind == "macro"}
    blanked = Ranges(headers.blanked)
    found = macro_calls_in_text(headers.masks, names, known)
    for (byte, call), draft in zip(found, owners(drafts, [byte for byte, _ in found]), strict=True):
        if draft is not None and byte >= draft.body and not blanked.around(byte):
            draft.calls.append(call)


def _problems(data: bytes, unread: bool, errors: list[int]) -> tuple[Problem, ...]:
    """What could not be read."""
    problems = []
    if b"\0" in data and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        problems.append(Problem(data[: data.index(b"\0")].count(b"\n") + 1, "NUL bytes were read as spaces"))
    if unread:
        problems.append(
            Problem(0, "parsing was given up as too costly: only directives, kernels and launches are read")
        )
    if errors:
        places = "a place" if len(errors) == 1 else f"{len(errors)} places"
        problems.append(Problem(errors[0], f"{places} the grammar could not read, the first here"))
    return tuple(problems)

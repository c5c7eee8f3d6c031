"""Turns plain text into the kernels and launches that the grammar does not see: in macros, in broken code."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from forwardbook.analyzers.index.facts import Call, Launch, Parameter
from forwardbook.analyzers.native.brackets import arguments, closing
from forwardbook.analyzers.native.calls import launch, shortened
from forwardbook.analyzers.native.drafts import Draft, Scope
from forwardbook.analyzers.native.headers import Headers
from forwardbook.analyzers.native.masking import Masks
from forwardbook.analyzers.native.ranges import Ranges

_OPEN = re.compile(rb"(?<!<)<<<(?!<)")
_CLOSE = re.compile(rb">>>(?!>)(?=(?:\s|\\\r?\n)*\()")
_CLOSE_IN_MACRO = re.compile(rb">>>(?!>)(?=(?:\s|\\\r?\n)*[\w(])")  # `>>>args` where a macro has `args`
_KERNEL = re.compile(rb"[A-Za-z_][\w:.#]*\Z")
_GLOBAL = re.compile(rb"\b__global__\b")
_INSTANCE = re.compile(rb"\btemplate\s*\Z")
_NAMED = re.compile(rb"(?P<name>[A-Za-z_]\w*)\s*(?:<[\w:, ]*>)?\s*\(")
_CAPITALS = re.compile(rb"(?<![\w.>:#])(?P<name>_*[A-Z][A-Z0-9_]{2,})\s*\(")
_ATTRIBUTES = {b"__launch_bounds__", b"__cluster_dims__", b"__attribute__", b"__block_size__", b"__maxnreg__"}
_TYPES = ("class", "struct", "union", "enum", "typedef")
_NEAR = 2_000


def launches_in_text(masks: Masks, known: set[int]) -> list[tuple[int, Launch]]:
    """The launches `kernel<<<...>>>(...)` at other bytes than the known ones, with these bytes."""
    found: list[tuple[int, Launch]] = []
    if b"<<<" not in masks.bare:
        return found
    defines = Ranges(masks.defines)
    for opening in _OPEN.finditer(masks.bare):
        at = opening.start()
        if at in known:
            continue
        in_macro = bool(defines.around(at))
        close = (_CLOSE_IN_MACRO if in_macro else _CLOSE).search(
            masks.bare, opening.end(), min(len(masks.bare), at + _NEAR)
        )
        kernel = _kernel_before(masks, at)
        if close is None or not kernel:
            continue
        ranges = arguments(masks.bare, opening.end() - 1, close.start())
        given = [shortened(masks.text(start, end)) for start, end in ranges][:4]
        found.append((at, replace(launch(masks.line(at), kernel, given), in_macro=in_macro)))
    return found


def _kernel_before(masks: Masks, at: int) -> str:
    """The name that stands before `<<<`, its template arguments left out."""
    before = masks.bare[max(0, at - 600) : at].replace(b"\\\n", b"  ").replace(b"\\\r\n", b"   ").rstrip()
    if before.endswith(b">"):
        depth, position = 0, len(before)
        while position and (depth or position == len(before)):
            position -= 1
            depth += (before[position] == 0x3E) - (before[position] == 0x3C)
        before = before[:position].rstrip()
    if before.endswith(b")"):  # `(*kernel)<<<...>>>`
        before = before[:-1].rstrip()
    name = _KERNEL.search(before[-200:])
    return name[0].decode("utf-8", "replace") if name else ""


def owners(drafts: Iterable[Draft], places: list[int]) -> list[Draft | None]:
    """For each of some bytes, in their order, the innermost function or macro around it."""
    waiting = sorted((one for one in drafts if one.kind not in _TYPES), key=lambda one: -one.start)
    open_ones: list[Draft] = []
    found: list[Draft | None] = []
    for byte in places:
        while waiting and waiting[-1].start <= byte:
            open_ones.append(waiting.pop())
        while open_ones and open_ones[-1].end <= byte:
            open_ones.pop()
        found.append(open_ones[-1] if open_ones else None)
    return found


def macro_calls_in_text(masks: Masks, names: set[str], known: set[tuple[int, int]]) -> list[tuple[int, Call]]:
    """The uses of function-like macros that are no call to the grammar (`RUN(float, n)`), with their bytes.

    Known are the lines and columns of calls; a macro is what the file defines as one or is called like one.
    """
    found = []
    for word in _CAPITALS.finditer(masks.flat):
        name = word["name"].decode()
        place = (masks.line(word.start()), masks.column(word.start()))
        if place not in known and (name in names or "_" in name.strip("_")):
            close = closing(masks.flat, word.end() - 1)
            ranges = arguments(masks.flat, word.end() - 1, close)[:64]
            given = tuple(shortened(masks.text(start, min(end, start + 400))) for start, end in ranges)
            found.append((word.start(), Call(*place, name, given)))
    return found


def kernels_in_text(headers: Headers, drafts: list[Draft], namespaces: list[Scope]) -> list[Draft]:
    """The kernels whose `__global__` stands in no header of a known definition."""
    masks = headers.masks
    heads = Ranges((one.start, one.body) for one in drafts if one.kind == "kernel")
    found = []
    for word in _GLOBAL.finditer(masks.flat):
        at = word.start()
        if not heads.around(at):
            draft = _kernel_at(headers, at, word.end())
            if draft is not None:
                around = (scope for scope in reversed(namespaces) if scope.start <= at < scope.end)
                inner = next(around, None)
                draft.names = (*(inner.names if inner else ()), draft.name)
                draft.is_public = not (inner and inner.hidden)
                found.append(draft)
    return found


def _kernel_at(headers: Headers, at: int, end: int) -> Draft | None:
    """The kernel that follows one `__global__`, or nothing where none is defined there."""
    masks = headers.masks
    flat = masks.flat
    position = end
    limit = min(len(flat), end + _NEAR)
    while (named := _NAMED.search(flat, position, limit)) is not None:
        if re.search(rb"[;{}=]", flat[position : named.start()]):
            return None
        close = closing(flat, named.end() - 1)
        if close == named.end() - 1:
            return None
        if named["name"] not in _ATTRIBUTES:
            return _draft(headers, _line_start(flat, at), named, close)
        position = close + 1
    return None


def _line_start(flat: bytes, at: int) -> int:
    """Where the declaration of a kernel begins in its line: `static __global__` at `static`."""
    before = re.search(rb"(?:(?:static|inline|extern|friend|__\w+__)\s+)*\Z", flat[max(0, at - 80) : at])
    return at - len(before[0]) if before else at


def _draft(headers: Headers, start: int, named: re.Match[bytes], close: int) -> Draft | None:
    """The kernel from where it begins to the end of its body."""
    masks = headers.masks
    flat = masks.flat
    following = re.compile(rb"\s*(?:noexcept\s*)?([{;])").match(flat, close + 1)
    if following is None or _INSTANCE.search(flat, max(0, start - 80), start):
        return None
    body = following.start(1)
    end = headers.body_end(body, body + 1) if following[1] == b"{" else body
    name = named["name"].decode("utf-8", "replace")
    listed = arguments(flat, named.end() - 1, close)
    return Draft(
        name,
        (name,),
        "kernel",
        headers.span(start, end),
        headers.span(start, end),
        start,
        end,
        body,
        masks.text(start, body),
        tuple(_parameter(masks.text(first, last)) for first, last in listed),
        "void",
        headers.decorators(start, named.start()),
        docstring=headers.docstring(start),
        is_declaration=following[1] == b";",
    )


def _parameter(text: str) -> Parameter:
    """One parameter as far as its text says: the last name before a default is its name."""
    declared, _, default = text.partition("=")
    name = re.search(r"(?<=[\s*&])([A-Za-z_]\w*)\s*(?:\[[^\]]*\])?\s*\Z", declared.strip())
    annotation = declared.strip()[: name.start(1)].strip() if name else declared.strip()
    return Parameter(name[1] if name else "", "", annotation, default.strip())

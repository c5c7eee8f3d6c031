"""Turns a native file and its facts into the facts its page needs."""

from __future__ import annotations

import re

from forwardbook.analyzers.index.facts import Definition, FileFacts
from forwardbook.analyzers.native.brackets import arguments
from forwardbook.analyzers.native.calls import shortened
from forwardbook.analyzers.native.cmake import commands_of, targets_of
from forwardbook.analyzers.native.detail import KernelDetail, MacroDetail, NativeDetail, Template
from forwardbook.analyzers.native.device_work import copies_of, shared_memory_of, streams_of, waits_of
from forwardbook.analyzers.native.error_checks import checks_of, launches_of
from forwardbook.analyzers.native.index import decoded
from forwardbook.analyzers.native.masking import Masks, mask
from forwardbook.analyzers.native.resources import owners_of, resources_of

_INDEX = re.compile(rb"\b(?:blockIdx|threadIdx|blockDim|gridDim)\s*\.\s*[xyz]\b")
_WORD = re.compile(rb"[A-Za-z_]\w*")
_NAMESPACE = re.compile(rb"\bnamespace\s+(?P<name>[A-Za-z_][\w:]*)\s*\{")


def native_detail(facts: FileFacts, data: bytes) -> NativeDetail:
    """The page-depth facts of one file whose facts these are."""
    if facts.language == "cmake":
        commands, _ = commands_of(data.decode("utf-8", "replace"))
        return NativeDetail(facts.path, targets=targets_of(commands))
    masks = mask(decoded(data)[0])
    return NativeDetail(
        path=facts.path,
        kernels=_kernels(facts, masks),
        launches=launches_of(facts, masks),
        copies=copies_of(facts),
        streams=streams_of(facts),
        synchronisations=waits_of(facts),
        shared_memory=shared_memory_of(facts, masks),
        resources=resources_of(facts, masks),
        owners=owners_of(facts),
        checks=checks_of(facts, masks),
        macros=_macros(facts, masks),
        templates=_templates(facts),
        namespaces=_namespaces(masks),
    )


def _kernels(facts: FileFacts, masks: Masks) -> tuple[KernelDetail, ...]:
    """The kernels that have a body, with where this file launches them."""
    launched: dict[str, list[int]] = {}
    for launch in (*facts.launches, *(each for one in facts.definitions for each in one.launches)):
        launched.setdefault(launch.kernel.rpartition("::")[2], []).append(launch.line)
    return tuple(
        KernelDetail(
            one.qualname,
            one.span,
            tuple(
                each
                for each in one.decorators
                if re.match(r"__(?:launch_bounds|cluster_dims|block_size)", each)
            ),
            _indices(one, masks),
            tuple(sorted(launched.get(one.name, ()))),
        )
        for one in facts.definitions
        if one.kind == "kernel" and not one.is_declaration
    )


def _indices(one: Definition, masks: Masks) -> tuple[str, ...]:
    """The indices that a kernel reads, in the order it first does."""
    starts = masks.line_starts
    end = starts[one.span.end] if one.span.end < len(starts) else len(masks.flat)
    found = _INDEX.finditer(masks.flat, starts[one.span.start - 1], end)
    return tuple(dict.fromkeys(each[0].decode().replace(" ", "") for each in found))


def _macros(facts: FileFacts, masks: Masks) -> tuple[MacroDetail, ...]:
    """The macros with what they stand for and the lines that use them."""
    macros = [one for one in facts.definitions if one.kind == "macro"]
    uses: dict[str, list[int]] = {one.name: [] for one in macros}
    if uses:
        for word in _WORD.finditer(masks.bare):
            lines = uses.get(word[0].decode())
            if lines is not None:
                lines.append(masks.line(word.start()))
    found = []
    for one in macros:
        own = {each.span.start for each in macros if each.name == one.name}
        used = tuple(dict.fromkeys(line for line in uses[one.name] if line not in own))
        start = masks.line_starts[one.span.start - 1]
        end = masks.line_starts[one.span.end] if one.span.end < len(masks.line_starts) else len(masks.data)
        text = masks.text(start, end)
        value = text[text.find(one.signature.removeprefix("#define ").strip()) :]
        value = value.removeprefix(one.signature.removeprefix("#define ").strip()).strip()
        found.append(MacroDetail(one.name, one.span, one.parameters, shortened(value), one.docstring, used))
    return tuple(found)


def _templates(facts: FileFacts) -> tuple[Template, ...]:
    """The templates with their parameters."""
    found = []
    for one in facts.definitions:
        header = next((each for each in one.decorators if each.startswith("template")), "")
        inner = header[header.find("<") + 1 : header.rfind(">")].encode() if "<" in header else b""
        if inner.strip():
            whole = b"(" + inner + b")"
            ranges = arguments(whole, 0, len(whole) - 1)
            names = tuple(" ".join(whole[start:end].decode().split()) for start, end in ranges)
            found.append(Template(one.qualname, one.decorated.start, names))
    return tuple(found)


def _namespaces(masks: Masks) -> tuple[str, ...]:
    """The named namespaces that the file opens."""
    found = (each["name"].decode() for each in _NAMESPACE.finditer(masks.flat))
    return tuple(dict.fromkeys(found))

"""Turns the text of a CMake file into its commands, and these into targets, options and functions."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from forwardbook.analyzers.index.facts import (
    Attribute,
    Call,
    Definition,
    FileFacts,
    Import,
    Parameter,
    Problem,
    Span,
)

_TOKEN = re.compile(
    r"\#?\[(?P<level>=*)\[.*?(?:\](?P=level)\]|\Z)"
    r"|\#[^\n]*"
    r'|"(?:\\.|[^"\\])*(?:"|\Z)'
    r"|[()]"
    r'|(?:\\.|[^\s()#"\\])+',
    re.DOTALL,
)
_WORD = re.compile(r"[A-Za-z_]\w*\Z")
_TARGETS = {
    "add_library": "library",
    "add_executable": "executable",
    "add_custom_target": "custom target",
    "cuda_add_library": "library",
    "cuda_add_executable": "executable",
    "pybind11_add_module": "Python module",
    "nanobind_add_module": "Python module",
    "python_add_library": "Python module",
    "python3_add_library": "Python module",
    "define_gpu_extension_target": "Python module",
}
_LIBRARY = {
    "STATIC",
    "SHARED",
    "MODULE",
    "OBJECT",
    "INTERFACE",
    "ALIAS",
    "IMPORTED",
    "EXCLUDE_FROM_ALL",
    "ALL",
}
_SCOPES = {"PUBLIC", "PRIVATE", "INTERFACE", "BEFORE", "SYSTEM"}


@dataclass(frozen=True, slots=True)
class Command:
    """One command of a CMake file with its arguments as written, quotes left out."""

    name: str
    span: Span
    column: int
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Target:
    """What is built: its kind, sources, what it links, its include folders and compile definitions."""

    name: str
    kind: str
    span: Span
    sources: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()
    definitions: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    features: tuple[str, ...] = ()


def commands_of(text: str) -> tuple[tuple[Command, ...], tuple[Problem, ...]]:
    """Every command, and where brackets do not close."""
    found: list[Command] = []
    name, start, given, depth = "", 0, list[str](), 0
    for token in _TOKEN.finditer(text):
        piece = token[0]
        if piece.startswith("#"):
            continue
        if piece == "(":
            depth += 1
            given += ["("] if depth > 1 else []
        elif piece == ")" and depth:
            depth -= 1
            if depth:
                given.append(")")
            elif name:
                found.append(_command(text, name, start, token.end(), given))
                name, given = "", []
        elif depth:
            given.append(_unquoted(piece, token["level"]))
        else:
            name, start, given = (piece if _WORD.match(piece) else ""), token.start(), []
    open_at = (
        (Problem(text.count("\n", 0, start) + 1, f"`{name}(` is never closed"),) if depth and name else ()
    )
    return tuple(found), open_at


def _command(text: str, name: str, start: int, end: int, given: list[str]) -> Command:
    """A command between two positions."""
    line = text.count("\n", 0, start) + 1
    span = Span(line, line + text.count("\n", start, end))
    return Command(name.lower(), span, start - (text.rfind("\n", 0, start) + 1), tuple(given))


def _unquoted(piece: str, level: str | None) -> str:
    """An argument without its quotes or brackets."""
    if level is not None:
        return piece.strip("[]=")
    return piece[1:-1] if piece.startswith('"') and piece.endswith('"') and len(piece) > 1 else piece


def targets_of(commands: tuple[Command, ...]) -> tuple[Target, ...]:
    """Every target with what later commands add to it."""
    found: dict[str, Target] = {}
    for command in commands:
        given = command.arguments
        if command.name in _TARGETS and given:
            sources = tuple(one for one in given[1:] if one not in _LIBRARY)
            if command.name == "add_custom_target":
                sources = ()
            found.setdefault(given[0], Target(given[0], _kind(command), command.span, sources))
    return tuple(_extended(target, commands) for target in found.values())


def _kind(command: Command) -> str:
    """The kind of a target, with the kind of library where it is said."""
    kind = _TARGETS[command.name]
    said = [one.lower() for one in command.arguments[1:3] if one in _LIBRARY - {"EXCLUDE_FROM_ALL", "ALL"}]
    return f"{said[0]} {kind}" if said and kind == "library" else kind


def _extended(target: Target, commands: tuple[Command, ...]) -> Target:
    """A target with what `target_...` commands add."""

    def added(*names: str) -> tuple[str, ...]:
        return tuple(
            one
            for command in commands
            if command.name in names and command.arguments[:1] == (target.name,)
            for one in command.arguments[1:]
            if one not in _SCOPES
        )

    return Target(
        target.name,
        target.kind,
        target.span,
        target.sources + added("target_sources"),
        added("target_link_libraries"),
        added("target_include_directories"),
        added("target_compile_definitions"),
        added("target_compile_options", "target_link_options"),
        added("target_compile_features"),
    )


def index_cmake(path: str, data: bytes) -> FileFacts:
    """The facts of one CMake file; targets and functions are its definitions."""
    text = data.decode("utf-8", "replace")
    commands, problems = commands_of(text)
    definitions = [*_targets(commands), *_functions(commands)]
    return FileFacts(
        path=path,
        language="cmake",
        digest=hashlib.sha256(data).hexdigest(),
        lines=data.count(b"\n") + (bool(data) and not data.endswith(b"\n")),
        docstring=_opening_comment(text),
        definitions=tuple(sorted(definitions, key=lambda one: one.span.start)),
        imports=_taken_in(commands),
        constants=_settings(commands),
        calls=tuple(Call(one.span.start, one.column, one.name, one.arguments) for one in commands),
        problems=problems,
    )


def _targets(commands: tuple[Command, ...]) -> list[Definition]:
    """The targets as definitions; what they link and are made of are their bases and attributes."""
    return [
        Definition(
            one.name,
            one.name,
            "target",
            one.span,
            one.span,
            signature=one.kind,
            bases=one.links,
            attributes=tuple(Attribute("source", one.span.start, "", source) for source in one.sources),
        )
        for one in targets_of(commands)
    ]


def _functions(commands: tuple[Command, ...]) -> list[Definition]:
    """`function(name a b)` to `endfunction()`, and macros alike."""
    found, opened = [], list[Command]()
    for command in commands:
        if command.name in ("function", "macro") and command.arguments:
            opened.append(command)
        elif command.name in ("endfunction", "endmacro") and opened:
            first = opened.pop()
            span = Span(first.span.start, command.span.end)
            name, *rest = first.arguments
            found.append(
                Definition(
                    name,
                    name,
                    "macro" if first.name == "macro" else "function",
                    span,
                    span,
                    signature=f"{first.name}({' '.join(first.arguments)})",
                    parameters=tuple(Parameter(one) for one in rest),
                )
            )
    return found


def _taken_in(commands: tuple[Command, ...]) -> tuple[Import, ...]:
    """Packages found, files included and folders added."""
    words = {
        "find_package": 0,
        "include": 0,
        "add_subdirectory": 1,
        "find_library": 0,
        "fetchcontent_declare": 0,
    }
    return tuple(
        Import(one.span.start, one.arguments[0], level=words[one.name])
        for one in commands
        if one.name in words and one.arguments
    )


def _settings(commands: tuple[Command, ...]) -> tuple[Attribute, ...]:
    """Options and variables outside functions, the project and the version of CMake it needs."""
    found, depth = [], 0
    for one in commands:
        depth += (one.name in ("function", "macro")) - (one.name in ("endfunction", "endmacro"))
        given = one.arguments
        if depth or not given:
            continue
        if one.name == "option":
            found.append(Attribute(given[0], one.span.start, "option", given[2] if len(given) > 2 else "OFF"))
        elif one.name == "set" and len(given) > 1:
            cached = given.index("CACHE") if "CACHE" in given else len(given)
            kind = given[cached + 1] if cached + 1 < len(given) else ""
            found.append(Attribute(given[0], one.span.start, kind, " ".join(given[1:cached])))
        elif one.name in ("project", "cmake_minimum_required"):
            found.append(Attribute(one.name, one.span.start, "", " ".join(given)))
    return tuple(found)


def _opening_comment(text: str) -> str:
    """The comment at the top, unless it is about the licence."""
    lines = []
    for line in text.split("\n"):
        if not line.startswith("#"):
            break
        lines.append(line.lstrip("#").strip())
    joined = "\n".join(lines).strip()
    return "" if re.search(r"copyright|SPDX|licen[cs]e", joined, re.IGNORECASE) else joined

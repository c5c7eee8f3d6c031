"""A scope in, the commands and options that it builds with argparse (or optparse, absl) out."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

from forwardbook.analyzers.detail.facts import Command, Option
from forwardbook.analyzers.detail.names import argument, dotted, keyword, last, string
from forwardbook.analyzers.detail.open_file import OpenFile
from forwardbook.analyzers.detail.scopes import Scope

_FLAGS: Final = frozenset(
    {"store_true", "store_false", "store_const", "append_const", "count", "help", "version"}
)
_ABSL: Final = {"string": "str", "integer": "int", "float": "float", "bool": "bool", "boolean": "bool"}
_PARSERS: Final = frozenset({"ArgumentParser", "OptionParser", "HfArgumentParser", "ConfigArgumentParser"})


@dataclass(slots=True)
class _Draft:
    framework: Literal["argparse", "optparse", "transformers"]
    line: int
    name: str = ""
    help: str = ""
    function: str = ""
    options: list[Option] = field(default_factory=list)


def argparse_commands(file: OpenFile, scope: Scope) -> Iterator[Command]:
    """The parsers made or filled in a scope, subcommands as commands of their own, in source order."""
    drafts: dict[str, _Draft] = {}
    aliases: dict[str, str] = {}  # a group's or subparsers' name, and the name of the parser behind it
    for node in sorted(scope.calls, key=lambda each: (each.lineno, each.col_offset)):
        short, bound = last(node.func), _bound(file, node)
        receiver = dotted(node.func.value) if isinstance(node.func, ast.Attribute) else ""
        parser = aliases.get(receiver, receiver)
        if short in _PARSERS:
            drafts[bound or f"<{node.lineno}>"] = _parser(file, node, short, scope)
        elif short in ("add_argument_group", "add_mutually_exclusive_group", "add_subparsers", "OptionGroup"):
            aliases[bound] = parser if short != "OptionGroup" else dotted(node.args[0]) if node.args else ""
        elif short == "add_parser" and node.args and string(node.args[0]):
            words = _words(file, keyword(node, "help") or keyword(node, "description"))
            drafts[bound or f"<{node.lineno}>"] = _Draft("argparse", node.lineno, string(node.args[0]), words)
        elif short in ("add_argument", "add_option") and (option := _option(file, node)) is not None:
            if parser not in drafts:
                kind: Literal["argparse", "optparse"] = "argparse" if short == "add_argument" else "optparse"
                drafts[parser] = _Draft(kind, node.lineno, function=scope.qualname)
            drafts[parser].options.append(option)
        elif short == "set_defaults" and parser in drafts:
            handler = keyword(node, "func") or keyword(node, "fn") or keyword(node, "handler")
            drafts[parser].function = dotted(handler) if handler is not None else drafts[parser].function
    for draft in drafts.values():
        function = draft.function or scope.qualname
        yield Command(draft.framework, draft.line, draft.name, function, draft.help, tuple(draft.options))


def _parser(file: OpenFile, node: ast.Call, short: str, scope: Scope) -> _Draft:
    words = _words(file, keyword(node, "description") or keyword(node, "usage"))
    if short == "HfArgumentParser":
        given = argument(node, 0, "dataclass_types")
        kinds = given.elts if isinstance(given, ast.Tuple | ast.List) else [given]
        options = [each for kind in kinds if kind is not None for each in _fields(file, dotted(kind))]
        return _Draft("transformers", node.lineno, "", words, scope.qualname, options)
    framework: Literal["argparse", "optparse"] = "optparse" if short == "OptionParser" else "argparse"
    return _Draft(framework, node.lineno, "", words, scope.qualname)


def _option(file: OpenFile, node: ast.Call) -> Option | None:
    flags = tuple(string(each) for each in node.args if string(each))
    if not flags:
        return None
    action = string(keyword(node, "action"))
    is_argument = not flags[0].startswith("-")
    longest = next((flag for flag in flags if flag.startswith("--")), flags[0])
    name = string(keyword(node, "dest")) or longest.lstrip("-").replace("-", "_")
    kind, required = keyword(node, "type"), keyword(node, "required")
    many = keyword(node, "nargs")
    is_optional = string(many) in ("?", "*")
    default = keyword(node, "default")
    words = file.text(default) if default is not None else ""
    if not words and action in ("store_true", "store_false"):
        words = "False" if action == "store_true" else "True"
    return Option(
        flags,
        node.lineno,
        name,
        _type(file, kind, many),
        words,
        _words(file, keyword(node, "help")),
        required=(required is not None and file.text(required) == "True")
        or (is_argument and not is_optional),
        is_flag=action in _FLAGS or "BooleanOptionalAction" in _text(file, keyword(node, "action")),
        is_argument=is_argument,
        choices=_text(file, keyword(node, "choices")),
    )


def _type(file: OpenFile, kind: ast.expr | None, many: ast.expr | None) -> str:
    words = file.text(kind) if kind is not None else ""
    return f"{words or 'str'}, nargs={file.text(many)}" if many is not None else words


def _fields(file: OpenFile, name: str) -> Iterator[Option]:
    """The options that transformers makes of a dataclass's fields."""
    for scope in file.classes:
        node = scope.node
        if scope.qualname != name or not isinstance(node, ast.ClassDef):
            continue
        for each in node.body:
            if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
                yield field_option(file, each, each.target.id)


def field_option(file: OpenFile, node: ast.AnnAssign, name: str) -> Option:
    """The option for one field of a dataclass."""
    default, words = node.value, ""
    if isinstance(default, ast.Call) and last(default.func) in ("field", "Field", "HfArg"):
        metadata = keyword(default, "metadata")
        if isinstance(metadata, ast.Dict):
            for key, value in zip(metadata.keys, metadata.values, strict=True):
                words = _words(file, value) if string(key) == "help" else words
        words = words or _words(file, keyword(default, "help") or keyword(default, "description"))
        default = keyword(default, "default") or keyword(default, "default_factory")
    kind = file.text(node.annotation)
    given = file.text(default) if default is not None else ""
    return Option((f"--{name}",), node.lineno, name, kind, given, words, node.value is None, kind == "bool")


def absl_options(file: OpenFile, scope: Scope) -> Iterator[Option]:
    """The flags that absl's `DEFINE_...` calls define."""
    for node in scope.calls:
        called = file.names.full(node.func)
        if ".DEFINE_" not in called or not called.startswith("absl.") or not node.args:
            continue
        kind = called.rpartition("DEFINE_")[2]
        name = string(node.args[0])
        default = argument(node, 1, "default")
        words = _words(file, argument(node, 3 if kind == "enum" else 2, "help"))
        yield Option(
            (f"--{name}",),
            node.lineno,
            name,
            _ABSL.get(kind, kind),
            file.text(default) if default is not None else "",
            words,
            is_flag=kind in ("bool", "boolean"),
            choices=_text(file, argument(node, 2, "enum_values")) if kind == "enum" else "",
        )


def _bound(file: OpenFile, node: ast.Call) -> str:
    """The name that a call's result is bound to."""
    parent = file.scopes.parents.get(node)
    if isinstance(parent, ast.Assign):
        return dotted(parent.targets[0])
    if isinstance(parent, ast.AnnAssign | ast.NamedExpr):
        return dotted(parent.target)
    return ""


def _text(file: OpenFile, node: ast.expr | None) -> str:
    return file.text(node) if node is not None else ""


def _words(file: OpenFile, node: ast.expr | None) -> str:
    """A help text: the string itself where it is one, and else what is written."""
    if node is None:
        return ""
    plain = string(node)
    return " ".join(plain.split()) if plain else file.text(node)

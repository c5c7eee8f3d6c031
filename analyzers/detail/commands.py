"""A file in, the command lines it offers out: argparse, click, typer, fire, hydra, absl, plain `sys.argv`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import Final, Literal

from forwardbook.analyzers.detail.argparse_commands import absl_options, argparse_commands
from forwardbook.analyzers.detail.docstrings import Docstring, Said, understood
from forwardbook.analyzers.detail.facts import Command, Option
from forwardbook.analyzers.detail.names import argument, dotted, keyword, last, string
from forwardbook.analyzers.detail.open_file import OpenFile
from forwardbook.analyzers.detail.scopes import Scope
from forwardbook.analyzers.detail.syntax import Function
from forwardbook.analyzers.index.header import docstring, parameters

_APPS: Final = ("typer.Typer", "click.Group", "click.group", "cyclopts.App")


def commands(file: OpenFile) -> tuple[Command, ...]:
    """Every command of a file, in source order."""
    found = [each for scope in file.scopes.every for each in argparse_commands(file, scope)]
    flags = tuple(each for scope in file.scopes.every for each in absl_options(file, scope))
    if flags:
        found.append(Command("absl", flags[0].line, options=flags))
    for scope in file.functions:
        found += _decorated(file, scope)
    for scope in file.scopes.every:
        found += _called(file, scope)
    if not found:
        found += _argv(file)
    return tuple(sorted(found, key=lambda each: each.line))


def _decorated(file: OpenFile, scope: Scope) -> Iterator[Command]:
    """The command that a function becomes by its decorators."""
    node = scope.function
    assert node is not None
    for mark in node.decorator_list:
        called = mark.func if isinstance(mark, ast.Call) else mark
        name = file.names.full(called)
        if name in ("hydra.main", "hydra_zen.hydrated_dataclass"):
            yield _hydra(file, scope, mark)
            return
        if name in ("click.command", "click.group") or last(called) in ("command", "callback", "group"):
            if name.startswith("click.") or _has_click_options(file, node):
                yield _click(file, scope, mark)
                return
            if _is_typer(file, called):
                yield replace(_from_signature(file, scope, "typer"), name=_name(node, mark, last(called)))
                return
            if isinstance(called, ast.Attribute) and "click" in file.names.packages:
                yield _click(file, scope, mark)
                return


def _is_typer(file: OpenFile, called: ast.expr) -> bool:
    """Whether `app` of `@app.command()` is, or may be, a Typer application."""
    owner = dotted(called).rpartition(".")[0]
    if not owner or "typer" not in file.names.packages and "cyclopts" not in file.names.packages:
        return False
    for node in file.scopes.module.each(ast.Assign):
        if any(dotted(target) == owner for target in node.targets):
            return isinstance(node.value, ast.Call) and file.names.full(node.value.func) in _APPS
    return "click" not in file.names.packages


def _name(node: Function, mark: ast.expr, kind: str = "command") -> str:
    given = argument(mark, 0, "name") if isinstance(mark, ast.Call) else None
    if kind == "callback":
        return ""
    return string(given) or node.name.replace("_", "-")


def _has_click_options(file: OpenFile, node: Function) -> bool:
    marks = [each.func for each in node.decorator_list if isinstance(each, ast.Call)]
    return any(file.names.full(each) in ("click.option", "click.argument") for each in marks)


def _click(file: OpenFile, scope: Scope, mark: ast.expr) -> Command:
    node = scope.function
    assert node is not None
    said = understood(docstring(node.body))
    options = []
    for each in node.decorator_list:
        called = file.names.full(each.func) if isinstance(each, ast.Call) else ""
        if isinstance(each, ast.Call) and called in ("click.option", "click.argument"):
            options.append(_click_option(file, each, called == "click.argument"))
    words = _words(file, keyword(mark, "help")) if isinstance(mark, ast.Call) else ""
    name = _name(node, mark)
    return Command("click", node.lineno, name, scope.qualname, words or said.summary, tuple(options))


def _click_option(file: OpenFile, node: ast.Call, is_argument: bool) -> Option:
    given = [string(each) for each in node.args if string(each)]
    flags = tuple(each for each in given if each.startswith("-")) or tuple(given[:1])
    plain = [each for each in given if each.isidentifier()]
    longest = max(flags, key=len, default="")
    kind, default = keyword(node, "type"), keyword(node, "default")
    is_flag = _is_true(keyword(node, "is_flag")) or "/" in longest
    required = _is_true(keyword(node, "required"))
    if is_argument:
        unset = keyword(node, "required")
        required = default is None and (unset is None or _is_true(unset))
    return Option(
        tuple(part for flag in flags for part in flag.split("/")),
        node.lineno,
        plain[0] if plain else longest.partition("/")[0].lstrip("-").replace("-", "_"),
        file.text(kind) if kind is not None else "",
        file.text(default) if default is not None else "",
        _words(file, keyword(node, "help")),
        required,
        is_flag,
        is_argument,
        _choices(file, kind),
    )


def _choices(file: OpenFile, kind: ast.expr | None) -> str:
    is_choice = isinstance(kind, ast.Call) and file.names.full(kind.func) == "click.Choice" and kind.args
    return file.text(kind.args[0]) if is_choice and isinstance(kind, ast.Call) else ""


def _hydra(file: OpenFile, scope: Scope, mark: ast.expr) -> Command:
    """A hydra command: where its configuration lies; every key of it is an option `key=value`."""
    node = scope.function
    assert node is not None
    options = []
    for key, position in (("config_path", 0), ("config_name", 1)):
        value = argument(mark, position, key) if isinstance(mark, ast.Call) else None
        if value is not None:
            options.append(
                Option((f"--{key.replace('_', '-')}",), value.lineno, key, "str", file.text(value))
            )
    said = summary_of(node)
    return Command("hydra", node.lineno, "", scope.qualname, said, tuple(options))


def _called(file: OpenFile, scope: Scope) -> Iterator[Command]:
    """The commands made by calls: `typer.run(f)`, `fire.Fire(f)`."""
    for node in scope.calls:
        name = file.names.full(node.func)
        framework: Literal["typer", "fire"] = "typer" if name == "typer.run" else "fire"
        if name not in ("typer.run", "fire.Fire"):
            continue
        component = argument(node, 0, "component")
        targets = _components(file, component)
        if not targets:
            yield Command("fire" if framework == "fire" else "typer", node.lineno, function=scope.qualname)
        for target, command in targets:
            made = _from_signature(file, target, framework)
            yield replace(made, line=node.lineno, name=command)


def _components(file: OpenFile, node: ast.expr | None) -> list[tuple[Scope, str]]:
    """The functions behind `fire.Fire`'s argument, each with the command that calls it."""
    by_name = {each.qualname: each for each in file.functions}
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return [(by_name[dotted(v)], string(k)) for k, v in pairs if dotted(v) in by_name]
    name = dotted(node) if node is not None else ""
    if name in by_name:
        return [(by_name[name], "")]
    methods = [each for each in file.functions if each.qualname.rpartition(".")[0] == name and name]
    if methods:
        public = [each for each in methods if not each.qualname.rpartition(".")[2].startswith("_")]
        return [(each, each.qualname.rpartition(".")[2]) for each in public]
    if node is None:
        return [(each, each.qualname) for each in file.functions if "." not in each.qualname]
    return []


def _from_signature(file: OpenFile, scope: Scope, framework: Literal["typer", "fire"]) -> Command:
    """The command that a framework makes of a function's parameters."""
    node = scope.function
    assert node is not None
    said = understood(docstring(node.body))
    given = node.args
    nodes = [*given.posonlyargs, *given.args, given.vararg, *given.kwonlyargs, given.kwarg]
    lines = {each.arg: each for each in nodes if each is not None}
    defaults = dict(zip(reversed([*given.posonlyargs, *given.args]), reversed(given.defaults), strict=False))
    defaults |= {arg: value for arg, value in zip(given.kwonlyargs, given.kw_defaults, strict=True) if value}
    options = []
    for each in parameters(file.syntax.source, given):
        if each.name in (scope.this, "ctx", "context") or each.kind in ("*", "**"):
            continue
        arg = lines[each.name]
        about = said.parameters.get(each.name, Said())
        options.append(_parameter_option(file, arg, defaults.get(arg), about, framework))
    return Command(framework, node.lineno, "", scope.qualname, said.summary, tuple(options))


def _parameter_option(
    file: OpenFile, arg: ast.arg, default: ast.expr | None, about: Said, framework: str
) -> Option:
    kind, maker = arg.annotation, default if isinstance(default, ast.Call) else None
    if (
        isinstance(kind, ast.Subscript)
        and last(kind.value) == "Annotated"
        and isinstance(kind.slice, ast.Tuple)
    ):
        calls = [each for each in kind.slice.elts[1:] if isinstance(each, ast.Call)]
        maker = next((each for each in calls if last(each.func) in ("Option", "Argument")), None)
        kind = kind.slice.elts[0]
        shown = default
    else:
        maker = maker if maker is not None and last(maker.func) in ("Option", "Argument") else None
        shown = argument(maker, 0, "default") if maker is not None else default
    is_missing = shown is None or (isinstance(shown, ast.Constant) and shown.value is ...)
    flags = (
        tuple(string(each) for each in maker.args if string(each).startswith("-"))
        if maker is not None
        else ()
    )
    is_argument = last(maker.func) == "Argument" if maker is not None else is_missing
    words = _words(file, keyword(maker, "help")) if maker is not None else ""
    annotation = file.text(kind) if kind is not None else about.type
    dashed = f"--{arg.arg.replace('_', '-') if framework == 'typer' else arg.arg}"
    return Option(
        flags or ((arg.arg,) if is_argument else (dashed,)),
        arg.lineno,
        arg.arg,
        annotation,
        file.text(shown) if shown is not None and not is_missing else "",
        words or about.meaning,
        is_missing,
        annotation == "bool",
        is_argument,
    )


def _argv(file: OpenFile) -> Iterator[Command]:
    """The arguments that a file takes from `sys.argv` itself."""
    for scope in file.scopes.every:
        options = []
        for node in scope.each(ast.Subscript):
            if file.names.full(node.value) == "sys.argv":
                at = node.slice
                if isinstance(at, ast.Constant) and isinstance(at.value, int) and at.value > 0:
                    parent = file.scopes.parents.get(node)
                    name = dotted(parent.targets[0]) if isinstance(parent, ast.Assign) else ""
                    options.append(
                        Option((name or f"argument{at.value}",), node.lineno, name, is_argument=True)
                    )
        if options:
            unique = {each.flags: each for each in reversed(options)}
            ordered = tuple(sorted(unique.values(), key=lambda each: each.line))
            yield Command("sys.argv", ordered[0].line, "", scope.qualname, options=ordered)


def summary_of(node: Function) -> str:
    """The first sentence of a function's docstring."""
    said: Docstring = understood(docstring(node.body))
    return said.summary


def _is_true(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def _words(file: OpenFile, node: ast.expr | None) -> str:
    if node is None:
        return ""
    return " ".join(string(node).split()) or file.text(node)

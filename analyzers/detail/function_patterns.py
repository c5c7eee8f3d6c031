"""A file and its functions in, the design patterns that they follow out."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from forwardbook.analyzers.detail.class_patterns import line
from forwardbook.analyzers.detail.facts import Line, Pattern
from forwardbook.analyzers.detail.names import dotted, last
from forwardbook.analyzers.detail.open_file import OpenFile
from forwardbook.analyzers.detail.scopes import Scope
from forwardbook.analyzers.detail.syntax import Function

_MAKES: Final = re.compile(r"^_*(create|make|build|from|new|get_instance|instantiate|load)(_|$)|_factory$")
_TABLES: Final = frozenset(
    {"dict", "list", "set", "OrderedDict", "defaultdict", "WeakValueDictionary", "WeakKeyDictionary"}
)
_REGISTERS: Final = re.compile(r"^_*(un)?register(_|$)|^_*add_to_registry$")
_QUEUES: Final = frozenset(
    {"Queue", "SimpleQueue", "JoinableQueue", "PriorityQueue", "LifoQueue", "Pipe", "deque"}
)
_PLUGINS: Final = frozenset(
    {"importlib.metadata.entry_points", "pkgutil.iter_modules", "pkgutil.walk_packages"}
)


def generator_context(file: OpenFile, scope: Scope) -> Iterator[Pattern]:
    """A generator made a context manager."""
    node = scope.function
    assert node is not None
    for mark in node.decorator_list:
        name = file.names.full(mark)
        if name in ("contextlib.contextmanager", "contextlib.asynccontextmanager"):
            yields = scope.each(ast.Yield)
            evidence = (line(file, mark), *(line(file, each) for each in yields[:2]))
            yield Pattern(
                "context manager", scope.qualname, f"a generator under `@{file.text(mark)}`", evidence
            )


def factory(file: OpenFile, scope: Scope) -> Iterator[Pattern]:
    """A function that chooses which class to make an object of, or that is named for making one."""
    node = scope.function
    assert node is not None
    known = {each.qualname for each in file.classes} | {
        name for name in file.names.imported if name[:1].isupper() and not name.isupper()
    }
    made: dict[str, ast.expr] = {}
    for each in scope.each(ast.Return):
        if isinstance(each.value, ast.Call):
            name = dotted(each.value.func)
            if name in known or name == "cls":
                made.setdefault(name, each.value)
    is_class_method = any(last(mark) == "classmethod" for mark in node.decorator_list)
    if "cls" in made and is_class_method:
        why = "a class method that makes an object of its class"
        yield Pattern("factory", scope.qualname, why, (line(file, node), line(file, made["cls"])))
    elif len(made) > 1:
        why = "gives back an object of one of " + ", ".join(f"`{name}`" for name in made)
        yield Pattern("factory", scope.qualname, why, tuple(line(file, each) for each in made.values()))
    elif made and _MAKES.search(node.name):
        why = f"named for making an object, and makes a `{next(iter(made))}`"
        yield Pattern(
            "factory", scope.qualname, why, (line(file, node), line(file, next(iter(made.values()))))
        )


def decorator(file: OpenFile, scope: Scope) -> Iterator[Pattern]:
    """A function that gives back an inner function which calls the one it was given."""
    node = scope.function
    assert node is not None
    inner = {each.name: each for each in node.body if isinstance(each, Function)}
    for end in scope.each(ast.Return):
        if (
            not isinstance(end, ast.Return)
            or not isinstance(end.value, ast.Name)
            or end.value.id not in inner
        ):
            continue
        wrapper = inner[end.value.id]
        for call in ast.walk(wrapper):
            if (
                isinstance(call, ast.Call)
                and isinstance(call.func, ast.Name)
                and call.func.id in scope.parameters
            ):
                why = f"gives back `{wrapper.name}`, which calls `{call.func.id}`"
                evidence = (line(file, wrapper), line(file, call), line(file, end))
                yield Pattern("decorator", scope.qualname, why, evidence)
                return


def memoised(file: OpenFile, scope: Scope) -> Iterator[Pattern]:
    """A function whose results are kept."""
    node = scope.function
    assert node is not None
    for mark in node.decorator_list:
        name = file.names.full(mark.func if isinstance(mark, ast.Call) else mark)
        if name in ("functools.lru_cache", "functools.cache", "functools.cached_property"):
            yield Pattern("memoisation", scope.qualname, f"`@{file.text(mark)}`", (line(file, mark),))


def registry(file: OpenFile) -> Iterator[Pattern]:
    """A table that functions fill with what they are given; decorators that enter what stands below."""
    tables = _tables(file)
    entered: dict[str, list[Line]] = {}
    for scope in file.functions:
        for node in scope.each(ast.Assign, ast.Call):
            entry = _entry(file, scope, node)
            if entry is not None and entry[0] in tables:
                entered.setdefault(entry[0], []).append(entry[1])
    for name, lines in entered.items():
        subject, where = tables[name]
        looked_up = _looked_up(file, name)[:2]
        why = f"entries are added to `{name}`" + (" and looked up by key" if looked_up else "")
        yield Pattern("registry", subject, why, (where, *lines[:4], *looked_up))
    marks: dict[str, list[Line]] = {}
    for scope in file.scopes.every:
        for mark in getattr(scope.node, "decorator_list", []):
            called = mark.func if isinstance(mark, ast.Call) else mark
            if isinstance(called, ast.Attribute | ast.Name) and _REGISTERS.search(last(called)):
                marks.setdefault(dotted(called) or file.text(called), []).append(line(file, mark))
    for name, lines in marks.items():
        why = f"what stands under `@{name}` is entered into a registry"
        if name != "atexit.register":
            yield Pattern("registry", name, why, tuple(lines[:8]))


def _tables(file: OpenFile) -> dict[str, tuple[str, Line]]:
    """The empty (or small) tables of the module and its classes by the words that reach them."""
    found: dict[str, tuple[str, Line]] = {}
    for scope in file.scopes.every:
        for node in scope.each(ast.Assign, ast.AnnAssign):
            if isinstance(node, ast.Assign):
                targets, value = node.targets, node.value
            elif isinstance(node, ast.AnnAssign) and node.value is not None:
                targets, value = [node.target], node.value
            else:
                continue
            if not _is_table(value):
                continue
            for target in targets:
                name = dotted(target)
                if scope.is_class and isinstance(target, ast.Name):
                    for owner in ("cls", "self", scope.qualname):
                        found[f"{owner}.{name}"] = (f"{scope.qualname}.{name}", line(file, node))
                elif scope.around is None and name:
                    found[name] = (name, line(file, node))
                elif scope.this and name.startswith(f"{scope.this}.") and scope.around is not None:
                    found.setdefault(
                        name, (f"{scope.around.qualname}.{name.partition('.')[2]}", line(file, node))
                    )
    return found


def _is_table(value: ast.expr) -> bool:
    if isinstance(value, ast.Dict | ast.List):
        return not (value.keys if isinstance(value, ast.Dict) else value.elts)
    return isinstance(value, ast.Call) and last(value.func) in _TABLES and len(value.args) < 2


def _entry(file: OpenFile, scope: Scope, node: ast.AST) -> tuple[str, Line] | None:
    """The table that a statement enters a parameter of a registering function into."""
    name = scope.qualname.rpartition(".")[2]
    around = scope.around.qualname.rpartition(".")[2] if scope.around is not None else ""
    is_registering = _REGISTERS.search(name) or (_REGISTERS.search(around) and scope.function is not None)
    given: ast.expr | None = None
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
        table, given = dotted(node.targets[0].value), node.value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
        if node.func.attr not in ("append", "add", "setdefault", "insert"):
            return None
        table, given = dotted(node.func.value), node.args[-1]
    else:
        return None
    if isinstance(node, ast.Assign) and isinstance(given, ast.Name) and given.id in scope.parameters:
        is_callable = any(
            isinstance(each, ast.Return) and isinstance(each.value, ast.Name) and each.value.id == given.id
            for each in scope.each(ast.Return)
        )
        if is_registering or is_callable:
            return table, line(file, node)
    return (table, line(file, node)) if is_registering else None


def _looked_up(file: OpenFile, name: str) -> list[Line]:
    found = []
    for scope in file.functions:
        for node in scope.each(ast.Subscript, ast.Call):
            if (
                (
                    isinstance(node, ast.Subscript)
                    and isinstance(node.ctx, ast.Load)
                    and dotted(node.value) == name
                )
                or isinstance(node, ast.Call)
                and dotted(node.func) == f"{name}.get"
            ):
                found.append(line(file, node))
    return found


def producer_consumer(file: OpenFile) -> Iterator[Pattern]:
    """A queue that one part of the file puts into and another takes from."""
    queues: dict[str, Line] = {}
    puts: dict[str, list[Line]] = {}
    gets: dict[str, list[Line]] = {}
    for scope in file.scopes.every:
        for node in scope.calls:
            parent = file.scopes.parents.get(node)
            if last(node.func) in _QUEUES and isinstance(parent, ast.Assign):
                for target in parent.targets:
                    names = target.elts if isinstance(target, ast.Tuple) else [target]
                    queues.update({dotted(each): line(file, parent) for each in names if dotted(each)})
            elif isinstance(node.func, ast.Attribute) and dotted(node.func.value):
                name = dotted(node.func.value)
                if node.func.attr in ("put", "put_nowait"):
                    puts.setdefault(name, []).append(line(file, node))
                elif node.func.attr in ("get", "get_nowait", "popleft"):
                    gets.setdefault(name, []).append(line(file, node))
    for name in puts:
        if name in gets and (name in queues or "queue" in name.lower()):
            start = (queues[name],) if name in queues else ()
            why = f"`{name}` is put into in one place and taken from in another"
            yield Pattern("producer-consumer", name, why, (*start, *puts[name][:2], *gets[name][:2]))


def strategy(file: OpenFile) -> Iterator[Pattern]:
    """A table of functions (or classes) of this file, one of which is chosen by key and called."""
    own = {each.qualname for each in (*file.functions, *file.classes)} | set(file.names.imported)
    tables: dict[str, ast.Dict] = {}
    for scope in file.scopes.every:
        for node in scope.each(ast.Assign, ast.AnnAssign):
            if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Dict):
                values = node.value.values
                if len(values) > 1 and all(_is_callable(each, own) for each in values):
                    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                    tables.update({dotted(each): node.value for each in targets if dotted(each)})
    for scope in file.scopes.every:
        for used in scope.each(ast.Subscript, ast.Call):
            name = ""
            if isinstance(used, ast.Subscript) and isinstance(used.ctx, ast.Load):
                name = dotted(used.value)
            elif isinstance(used, ast.Call) and last(used.func) == "get":
                name = dotted(used.func).rpartition(".")[0]
            table = tables.pop(name, None) if name else None
            if table is not None:
                why = f"one of {len(table.values)} is chosen by key from `{name}`"
                yield Pattern("strategy", name, why, (line(file, table), line(file, used)))


def _is_callable(node: ast.expr, own: set[str]) -> bool:
    return isinstance(node, ast.Lambda) or (dotted(node) in own and not dotted(node).isupper())


def monkey_patch(file: OpenFile) -> Iterator[Pattern]:
    """An attribute of an imported module or class that is replaced."""
    found: dict[str, list[Line]] = {}
    for scope in file.scopes.every:
        for node in scope.each(ast.Assign):
            for target in node.targets:
                name = dotted(target)
                root = name.partition(".")[0]
                is_foreign = isinstance(target, ast.Attribute) and root in file.names.imported
                if is_foreign and root not in scope.parameters and not isinstance(node.value, ast.Constant):
                    found.setdefault(name, []).append(line(file, node))
    for name, lines in found.items():
        yield Pattern("monkey patch", name, f"`{name}` is replaced", tuple(lines))


def plugins(file: OpenFile) -> Iterator[Pattern]:
    """Modules found and imported while the program runs."""
    for scope in file.scopes.every:
        for node in scope.calls:
            name = file.names.full(node.func)
            is_dynamic = name in ("importlib.import_module", "__import__") and node.args
            if name in _PLUGINS or (is_dynamic and not isinstance(node.args[0], ast.Constant)):
                why = "modules are found or imported by name while the program runs"
                yield Pattern("plug-in", scope.qualname or file.facts.module, why, (line(file, node),))
                break

"""Documents of a package in; out how they show its classes built and called, read as text.

Looked at are the description that the package was published with, docstrings, and what a module does when it
is run. Nothing is executed: literals, shapes of random tensors and constructor calls are all that is read.
"""

from __future__ import annotations

import ast
import importlib.metadata
import inspect
import operator
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import cast

_FENCED = re.compile(r"^[ \t]*```([\w-]*)[^\n]*\n(.*?)^[ \t]*```[ \t]*$", re.DOTALL | re.MULTILINE)
_INDENTED = re.compile(r"::[ \t]*\n\s*\n((?:[ \t]+.*\n|\s*\n)+)")
_MADE = {"randn": "floats", "rand": "floats", "zeros": "floats", "empty": "floats", "ones": "ones"}
_SAME = ("cuda", "to", "cpu", "eval", "float", "half", "double", "requires_grad_", "train", "contiguous")
_TORCH_NN = ("nn", "torch.nn")
_ARITHMETIC: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
}
LARGEST = 10**9
"""No number of an example that is a size is larger; nor is an exponent larger than its digits."""
MOST_TEXT = 400_000
"""Characters of one document that are read."""


@dataclass(frozen=True)
class Shown:
    """A tensor of an example: `floats`, `integers`, `ones` or `mask`, and its shape."""

    kind: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class ClassNamed:
    """A class given as a value, as it was imported: where from is empty where that is not shown."""

    name: str
    home: str = ""


@dataclass(frozen=True)
class Made:
    """An object made of a class: positional arguments, and those by name."""

    cls: ClassNamed
    positional: tuple[object, ...] = ()
    named: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Example:
    """One object that is shown, and what it is called with where that is shown too."""

    made: Made
    called: bool = False
    positional: tuple[object, ...] = ()
    named: Mapping[str, object] = field(default_factory=dict)


class Unread(LookupError):
    """An expression that says nothing which is certain without running it."""


def examples_of(cls: type) -> list[Example]:
    """Examples of a class: in its own docstring, in its module, in the package's description."""
    module = sys.modules.get(cls.__module__)
    texts = [cls.__doc__, *(inspect.getdoc(cls.__dict__.get(name)) for name in ("__init__", "forward"))]
    found = [example for text in texts if text for example in read_document(text)]
    found += _in_module(cls.__module__) if module is not None else []
    found += _in_description(cls.__module__.partition(".")[0])
    mine = [e for e in found if e.made.cls.name == cls.__name__ and _home_fits(e.made.cls.home, cls)]
    return sorted(mine, key=lambda example: not example.called)


def _home_fits(home: str, cls: type) -> bool:
    """Whether the class may be meant: it is imported from its module, or from a package around it."""
    return not home or cls.__module__ == home or cls.__module__.startswith(f"{home}.")


@lru_cache(maxsize=16)
def _in_module(name: str) -> list[Example]:
    module = sys.modules[name]
    found = read_document(module.__doc__ or "")
    try:
        tree = ast.parse(inspect.getsource(module))
    except (OSError, TypeError, SyntaxError):
        return found
    for statement in tree.body:
        if isinstance(statement, ast.If) and "__name__" in ast.unparse(statement.test):
            found += _Block().read(statement.body)
    return found


@lru_cache(maxsize=4)
def _in_description(package: str) -> list[Example]:
    """Of the text a package is published with; it may be one of several that a distribution holds."""
    for name in importlib.metadata.packages_distributions().get(package, ()):
        return read_document(str(importlib.metadata.metadata(name).json.get("description", "")))
    return []


def read_document(text: str) -> list[Example]:
    """Every object that is shown made in the code of a document; code that does not parse is left out."""
    found: list[Example] = []
    for code in _blocks(text[:MOST_TEXT]):
        try:
            tree = ast.parse(code)
        except (SyntaxError, ValueError):
            continue
        found += _Block().read(tree.body)
    return found


def _blocks(text: str) -> Iterator[str]:
    yield from (textwrap.dedent(code) for kind, code in _FENCED.findall(text) if kind in ("", "python", "py"))
    prompted = [line.strip() for line in text.splitlines()]
    shown = [line[4:] for line in prompted if line.startswith((">>> ", "... "))]
    if shown:
        yield "\n".join(shown)
    yield from (textwrap.dedent(block) for block in _INDENTED.findall(text) if ">>>" not in block)


class _Block:
    """Reads the statements of one piece of code in order; what it cannot read it forgets."""

    def __init__(self) -> None:
        self._values: dict[str, object] = {}
        self._homes: dict[str, str] = {}
        self._found: list[Example] = []

    def read(self, statements: list[ast.stmt]) -> list[Example]:
        """The objects that are made, each with its first call."""
        for statement in statements:
            match statement:
                case ast.ImportFrom(module=str(home), names=names, level=0):
                    self._homes.update({one.asname or one.name: home for one in names})
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self._assign(name, value)
                case ast.Assign(value=value) | ast.Expr(value=value) | ast.Assert(test=value):
                    self._quietly(value)
                case ast.With(body=body):
                    self.read(body)
        return self._found

    def _assign(self, name: str, value: ast.expr) -> None:
        self._values.pop(name, None)
        try:
            self._values[name] = self._value(value)
        except Unread:
            return
        made = self._values[name]
        if isinstance(made, Made):
            self._found.append(Example(made))

    def _quietly(self, value: ast.expr) -> None:
        for node in ast.walk(value):
            if isinstance(node, ast.Call):
                try:
                    self._value(node)
                except Unread:
                    continue

    def _value(self, node: ast.expr) -> object:
        match node:
            case ast.Constant(value=bool() | int() | float() | str() | None as value):
                return value
            case ast.Name(id=name) if name in self._values:
                return self._values[name]
            case ast.Name(id=name) if name in self._homes or name[:1].isupper():
                return ClassNamed(name, self._homes.get(name, ""))
            case ast.Attribute(value=inside, attr=name) if ast.unparse(inside) in _TORCH_NN:
                return ClassNamed(name, "torch.nn")
            case ast.Tuple(elts=items):
                return tuple(self._value(item) for item in items)
            case ast.List(elts=items):
                return [self._value(item) for item in items]
            case ast.Dict(keys=keys, values=values) if all(keys):
                read = (self._value(key) for key in keys if key is not None)
                return dict(zip(read, map(self._value, values), strict=True))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self._number(operand)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
                return _computed(op, self._number(left), self._number(right))
            case ast.Call():
                return self._call(node)
        raise Unread(ast.unparse(node))

    def _number(self, node: ast.expr) -> int:
        value = self._value(node)
        if not isinstance(value, int) or abs(value) > LARGEST:
            raise Unread(ast.unparse(node))
        return value

    def _call(self, node: ast.Call) -> object:
        match node.func:
            case ast.Name(id="tuple" | "list") if node.args:
                return self._value(node.args[0])
            case ast.Name(id="dict"):
                return self._named(node)
            case ast.Attribute(value=inside, attr=name) if ast.unparse(inside) == "torch":
                return self._tensor(name, node)
            case ast.Attribute(value=inside, attr=name) if name in (*_SAME, "bool", "long", "int"):
                return _cast(self._value(inside), name)
        callee = self._value(node.func)
        positional = tuple(self._value(one) for one in node.args)
        named = self._named(node)
        if isinstance(callee, ClassNamed):
            return Made(callee, positional, named)
        if isinstance(callee, Made):
            self._found.append(Example(callee, True, positional, named))
        raise Unread(ast.unparse(node))

    def _named(self, node: ast.Call) -> dict[str, object]:
        if any(word.arg is None for word in node.keywords):
            raise Unread(ast.unparse(node))
        return {word.arg: self._value(word.value) for word in node.keywords if word.arg}

    def _tensor(self, name: str, node: ast.Call) -> object:
        arguments = [self._value(one) for one in node.args if not isinstance(one, ast.Starred)]
        if name == "randint" and arguments:
            kind, shape = "integers", arguments[-1]
        elif name in _MADE and arguments:
            kind, shape = _MADE[name], arguments[0] if isinstance(arguments[0], tuple | list) else arguments
        elif name == "tensor" and isinstance(arguments[:1], list) and arguments:
            kind, shape = _tensor_of(arguments[0])
        else:
            raise Unread(ast.unparse(node))
        words = {word.arg: ast.unparse(word.value) for word in node.keywords}
        if "bool" in words.get("dtype", ""):
            kind = "mask"
        elif "long" in words.get("dtype", "") or "int" in words.get("dtype", ""):
            kind = "integers"
        if not isinstance(shape, tuple | list) or not all(type(size) is int for size in shape):
            raise Unread(ast.unparse(node))
        return Shown(kind, tuple(cast("list[int]", shape)))


def _computed(op: ast.operator, left: int, right: int) -> int:
    """What the operation gives; Unread where it has no end or no value, or gives no size."""
    if isinstance(op, ast.Pow) and not 0 <= right <= LARGEST.bit_length():
        raise Unread("a power")
    try:
        found = _ARITHMETIC[type(op)](left, right)
    except ZeroDivisionError as error:
        raise Unread("a division by zero") from error
    if abs(found) > LARGEST:
        raise Unread("a number too large")
    return found


def _tensor_of(value: object) -> tuple[str, tuple[int, ...]]:
    """Of numbers written out: whether they are whole, and their shape."""
    shape: list[int] = []
    while isinstance(value, list | tuple) and value:
        shape.append(len(value))
        value = value[0]
    if isinstance(value, bool):
        return "mask", tuple(shape)
    return ("integers" if isinstance(value, int) else "floats"), tuple(shape)


def _cast(value: object, method: str) -> object:
    if isinstance(value, Shown) and method in ("bool", "long", "int"):
        return Shown("mask" if method == "bool" else "integers", value.shape)
    return value

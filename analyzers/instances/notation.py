"""A small notation: a line that reads as PyTorch becomes a module and its inputs, sizes asked for by name.

`Linear(in_features, out_features)(floats(batch_size, in_features))`: the inner call builds, the outer feeds.
Capitalised calls are classes of torch.nn; floats, ones, mask, integers(high, ...), full(value, ...) and
values([...]) make inputs; `x := ...` names an input to be given twice; of("path", "attribute") is a length of
a layer that is built already; all other names are sizes."""

from __future__ import annotations

import ast
import importlib
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from pydantic import JsonValue

from forwardbook.analyzers.instances.choices import parameters_of, settled
from forwardbook.analyzers.instances.names import NAMES
from forwardbook.analyzers.instances.recipe import InputMaker, Inputs, Sizes

if TYPE_CHECKING:
    from torch import nn

_ARITHMETIC: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
}


Classes = Callable[[str, str], "type[nn.Module]"]  # a module and a name in it to the class


def imported(home: str, name: str) -> type[nn.Module]:
    """The class itself."""
    return cast("type[nn.Module]", getattr(importlib.import_module(home), name))


@dataclass(frozen=True)
class Row:
    """One way to build and call a class of the module `home`; `where` limits sizes, `hints` are its own."""

    text: str
    where: tuple[str, ...] = ()
    hints: Mapping[str, int] = field(default_factory=dict)
    scenario: str = "default"
    home: str = "torch.nn"
    needs_values: str = ""
    said: Mapping[str, JsonValue] = field(default_factory=dict)
    """What tells its call from that of another row, where no plain argument does."""

    @property
    def class_name(self) -> str:
        """The name of the class that the row is about."""
        return self.text[: self.text.index("(")]

    def names(self) -> set[str]:
        """The names of every size that the row asks for."""
        found = {node.id for node in ast.walk(ast.parse(self.text)) if isinstance(node, ast.Name)}
        return found & NAMES.keys()

    def build(self, sizes: Sizes, classes: Classes | None = None) -> nn.Module:
        """The module, its constructor integers asked for under the constructor's own argument names."""
        reader = Reader(
            self._lookup(sizes, f"{self.class_name}.__init__"), home=self.home, classes=classes or imported
        )
        return cast("nn.Module", reader.value(self._calls()[0]))

    def inputs(self, sizes: Sizes, module: nn.Module, maker: InputMaker) -> Inputs:
        """What forward() is called with."""
        reader = Reader(self._lookup(sizes, f"{self.class_name}.forward"), maker)
        return reader.arguments(self._calls()[1])

    def least(self) -> dict[str, int]:
        """What each size is at least: 1, of a padding 0."""
        return {name: 0 if "padding" in name else 1 for name in sorted(self.names())}

    def choices(self, cls: type[nn.Module]) -> dict[str, JsonValue]:
        """The arguments of the constructor and of forward() that are no sizes, as the row has them."""
        found: dict[str, JsonValue] = {}
        sizes = {name.rstrip("_0123456789") for name in self.names()} | self.names()
        for method, call in zip(("__init__", "forward"), self._calls(), strict=True):
            named = dict(zip(parameters_of(cls, method), call.args, strict=False))
            named |= {word.arg: word.value for word in call.keywords if word.arg}
            given = {name: _literal(node) for name, node in named.items()}
            sized = sizes | {name for name, node in named.items() if not _is_literal(node)}
            found = {**settled(cls, method, given, sized), **found}
        return {**found, **self.said}

    def _lookup(self, sizes: Sizes, source: str) -> Callable[[str], int]:
        def size(name: str) -> int:
            hint, meaning = NAMES[name]
            return sizes(name, self.hints.get(name, hint), meaning, source)

        return size

    def _calls(self) -> tuple[ast.Call, ast.Call]:
        outer = ast.parse(self.text, mode="eval").body
        if not (isinstance(outer, ast.Call) and isinstance(outer.func, ast.Call)):
            raise ValueError(f"a row reads Class(...)(inputs), found {self.text!r}")
        return outer.func, outer


def _is_literal(node: ast.expr) -> bool:
    return not any(isinstance(part, ast.Name | ast.Call) for part in ast.walk(node))


def _literal(node: ast.expr) -> object:
    return ast.literal_eval(node) if _is_literal(node) else None


class Reader:
    """Evaluates the expressions of the notation and nothing else; `size` answers names."""

    def __init__(
        self,
        size: Callable[[str], object],
        maker: InputMaker | None = None,
        home: str = "",
        classes: Classes = imported,
        held: Callable[[str, str], object] | None = None,
    ) -> None:
        self._size, self._maker, self._home, self._classes = size, maker, home, classes
        self._held = held
        self._named: dict[str, object] = {}

    def read(self, text: str) -> object:
        """The value of one expression."""
        return self.value(ast.parse(text, mode="eval").body)

    def arguments(self, call: ast.Call) -> Inputs:
        """The positional and keyword arguments of a call."""
        keywords = {word.arg: self.value(word.value) for word in call.keywords if word.arg}
        return tuple(self.value(argument) for argument in call.args), keywords

    def value(self, node: ast.expr) -> object:
        """The value of a parsed expression."""
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return self._named[name] if name in self._named else self._size(name)
            case ast.NamedExpr(target=ast.Name(id=name), value=value):
                self._named[name] = self.value(value)
                return self._named[name]
            case ast.Tuple(elts=items):
                return tuple(self.value(item) for item in items)
            case ast.List(elts=items):
                return [self.value(item) for item in items]
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -cast(int, self.value(operand))
            case ast.BinOp(left=left, op=op, right=right):
                return _ARITHMETIC[type(op)](cast(int, self.value(left)), cast(int, self.value(right)))
            case ast.Call(func=ast.Name(id=name)):
                return self._call(name, *self.arguments(node))
        raise ValueError(f"the notation has no {ast.unparse(node)!r}")

    def _call(self, name: str, arguments: tuple[object, ...], keywords: dict[str, object]) -> object:
        if name == "of" and self._held is not None:
            return self._held(*cast("tuple[str, str]", arguments))
        if self._maker is None:
            return self._classes(self._home, name)(*arguments, **keywords)
        dims = cast(tuple[int, ...], arguments)
        match name:
            case "floats":
                return self._maker.floats(dims)
            case "ones":
                return self._maker.ones(dims)
            case "mask":
                import torch

                return self._maker.ones(dims, torch.bool)
            case "integers":
                return self._maker.integers(dims[1:], dims[0], cast(int, keywords.get("low", 0)))
            case "values":
                import torch

                return torch.tensor(dims[0], device="cpu")
            case "full":
                return self._maker.full(dims[1:], dims[0])
        raise ValueError(f"the notation makes no input named {name!r}")

"""Modules that a run passes through; in them `int`, `float`, `zip` and `math` take symbolic numbers.

Python's own `int()` must give a plain number. Wherever code that is not torch's or Python's own asks for one,
its module sees a class in place of the builtin that leaves a symbolic number what it is. It does not matter
whose module it is: a base class or a function in another file or package rounds sizes as well.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from types import BuiltinFunctionType, ModuleType
from typing import Final

import torch

from forwardbook.analyzers.symbolic.caches import OURS, loaded
from forwardbook.analyzers.symbolic.node import FUNCTIONS, Node
from forwardbook.analyzers.symbolic.pairing import paired

Symbolic = torch.SymInt | torch.SymFloat

_NUMERIC: Final = ("numpy", "mpmath", "scipy", "torchgen", "functorch")
"""What computes with numbers of its own, in C or with types that are looked up by identity."""
_LAYERS: Final = "torch.nn.modules"
_DUNDERS: Final = ("floor", "ceil", "trunc", "fsum", "prod", "sumprod")
"""Functions of `math` that take symbolic numbers as they are."""


class _NumberType(type):
    """A builtin type of numbers as analysed code sees it: symbolic ones are instances, and stay symbolic."""

    plain: type
    kinds: tuple[type, ...]
    kept: Callable[[object], object]

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, cls.kinds) if cls._stands_in() else super().__instancecheck__(instance)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, cls.plain) if cls._stands_in() else super().__subclasscheck__(subclass)

    def __call__(cls, *args: object, **kwargs: object) -> object:
        if not cls._stands_in():
            return super().__call__(*args, **kwargs)
        if len(args) == 1 and isinstance(args[0], Symbolic):
            return cls.kept(args[0])
        return cls.plain(*args, **kwargs)

    def _stands_in(cls) -> bool:
        """Whether it is no type that analysed code derives from one."""
        return "plain" in vars(cls)

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is cls.plain

    def __hash__(cls) -> int:
        return hash(cls.plain)


class Integer(int, metaclass=_NumberType):
    """Stands for the builtin `int` in the globals of analysed modules."""

    plain, kinds, kept = int, (int, torch.SymInt), torch.sym_int


class Real(float, metaclass=_NumberType):
    """Stands for the builtin `float` in the globals of analysed modules."""

    plain, kinds, kept = float, (float, torch.SymFloat), torch.sym_float


def applied(name: str) -> Callable[[Symbolic], object]:
    """The function of `math` on a symbolic number, which stays one: how many layers may hang on it."""
    function = getattr(math, name)

    def apply(value: Symbolic) -> object:
        node = value.node
        return torch.SymFloat(node.ledger.apply(f"sym_{name}", (node,), function(node.hint), float))

    return apply


def _bridged(name: str) -> Callable[..., object]:
    """The function of `math`, which takes symbolic numbers as well."""
    function = getattr(math, name)

    def call(*args: object, **kwargs: object) -> object:
        numbers = [one for one in args if isinstance(one, Symbolic)]
        if not numbers or kwargs:
            return function(*args, **kwargs)
        if name in FUNCTIONS and len(args) == 1:
            return applied(name)(numbers[0])
        if name == "log":  # a base to one of them is a number
            return call(args[0]) / call(args[1])  # type: ignore[operator]
        if name in ("pow", "isqrt"):
            power = torch.sym_float(args[0]) ** (args[1] if name == "pow" else 0.5)
            return power if name == "pow" else torch.sym_int(power)
        return _opaque(name, function, args, numbers[0].node)

    return call


def _opaque(name: str, function: Callable[..., object], args: tuple[object, ...], one: Node) -> object:
    """A number of which no formula is known: it is that of this run for these sizes alone."""
    ledger = one.ledger
    found = function(*(a.node.hint if isinstance(a, Symbolic) else a for a in args))
    kind = type(found)
    if kind not in (int, float):
        return function(*args)
    nodes = tuple(a.node if isinstance(a, Symbolic) else ledger.constant(a, type(a)) for a in args)  # type: ignore[arg-type]
    node = ledger.apply(f"math_{name}", nodes, found, kind)  # type: ignore[arg-type]
    return torch.SymInt(node) if kind is int else torch.SymFloat(node)


_PLAIN: Final = {
    name: function
    for name, function in vars(math).items()
    if isinstance(function, BuiltinFunctionType) and name not in _DUNDERS
}
_BRIDGED: Final = {id(function): _bridged(name) for name, function in _PLAIN.items()}


def is_followed(name: str) -> bool:
    """Whether numbers are followed through the module of this name: not in Python's own, torch's and ours."""
    if name == _LAYERS or name.startswith(f"{_LAYERS}."):
        return True
    return name.partition(".")[0] not in (*OURS, *_NUMERIC)


def followed_since(count: int) -> set[str]:
    """The files of the modules that were loaded after the first so many, and are followed from now on."""
    names = list(sys.modules)[count:]
    return {str(getattr(sys.modules.get(name), "__file__", None)) for name in names if is_followed(name)}


Replaced = tuple[ModuleType, str, object]


@lru_cache(maxsize=1)
def _replaced(now: tuple[int, int]) -> tuple[Replaced, ...]:
    """Modules that are loaded now, names in them and what these stand for while numbers are followed."""
    found: list[Replaced] = []
    for name, module in list(sys.modules.items()):
        if not isinstance(module, ModuleType) or not is_followed(name):
            continue
        values = vars(module)
        found += [(module, "int", Integer)] if "int" not in values else []
        found += [(module, "zip", paired)] if "zip" not in values else []
        if not name.startswith(_LAYERS) and "float" not in values:
            found.append((module, "float", Real))
        found += [(module, k, _BRIDGED[id(v)]) for k, v in list(values.items()) if id(v) in _BRIDGED]
    return tuple(found)


@contextmanager
def numbers_followed() -> Iterator[None]:
    """Inside, loaded modules keep symbolic numbers where they ask for an `int`, a `float`, or call `math`."""
    undone: list[tuple[dict[str, object], str, object]] = []
    of_math = ((math, name, _BRIDGED[id(function)]) for name, function in _PLAIN.items())
    for module, name, value in (*_replaced(loaded()), *of_math):
        values = vars(module)
        undone.append((values, name, values.get(name, undone)))
        values[name] = value
    try:
        yield
    finally:
        for values, name, before in undone:
            if before is undone:
                values.pop(name, None)
            else:
                values[name] = before

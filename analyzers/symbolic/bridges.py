"""Lets ordinary Python accept symbolic integers: `int()`, `isinstance`, `hash`, `math`, initialisers."""

from __future__ import annotations

import builtins
import json
import math
import numbers
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from types import FunctionType, ModuleType

import torch
import torch.nn.init

from forwardbook.analyzers.symbolic.caches import loaded
from forwardbook.analyzers.symbolic.node import FUNCTIONS


class _IntegerType(type):
    """`int` as analysed code sees it: keeps symbolic integers, and counts them as instances."""

    def __instancecheck__(cls, instance: object) -> bool:
        return builtins.isinstance(instance, int | torch.SymInt)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, int)

    def __call__(cls, *args: object) -> object:
        value = args[0] if len(args) == 1 else None
        if builtins.isinstance(value, torch.SymInt):
            return value
        if builtins.isinstance(value, torch.SymFloat):
            return torch.sym_int(value)
        return builtins.int(*args)  # type: ignore[call-overload]

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is int

    def __hash__(cls) -> int:
        return hash(int)


class Integer(int, metaclass=_IntegerType):
    """Stands for the builtin `int` in the globals of analysed modules."""


Symbolic = torch.SymInt | torch.SymFloat


def _hint(value: Symbolic) -> float:
    return float(value.node.hint)


def _number(value: Symbolic) -> float:
    """What `float()` gives, which must be a plain number: that it was needed is written down."""
    value.node.ledger.record(value.node, real=True)
    return _hint(value)


def _itself(value: Symbolic, *rest: object) -> Symbolic:
    return value


def _applied(name: str) -> Callable[[Symbolic], object]:
    """The function of `math` on a symbolic number, which stays one: how many layers may hang on it."""
    function = getattr(math, name)

    def apply(value: Symbolic) -> object:
        node = value.node
        return torch.SymFloat(node.ledger.apply(f"sym_{name}", (node,), function(node.hint), float))

    return apply


def _bridged(name: str) -> Callable[..., object]:
    """The function of `math`, which takes symbolic numbers as well; a base to one of them is a number."""
    function, apply = getattr(math, name), _applied(name)

    def call(value: object, *rest: object) -> object:
        if not builtins.isinstance(value, Symbolic):
            return function(value, *rest)
        return apply(value) if not rest else apply(value) / call(*rest)  # type: ignore[operator]

    return call


@contextmanager
def _symbols_in_math() -> Iterator[None]:
    before = {name: getattr(math, name) for name in FUNCTIONS}
    for name in before:
        setattr(math, name, _bridged(name))
    try:
        yield
    finally:
        for name, function in before.items():
            setattr(math, name, function)


_BOTH: dict[str, Callable[..., object]] = {
    "__deepcopy__": _itself,
    "__copy__": _itself,
    "__hash__": lambda value: hash(value.node.hint),
    "__float__": _number,
    **{name: _applied(name) for name in FUNCTIONS},
}
_INTEGERS: dict[str, Callable[..., object]] = {
    **dict.fromkeys(("__ceil__", "__floor__", "__trunc__", "__round__"), _itself),
    "bit_length": lambda value: int(value.node.hint).bit_length(),
    "__divmod__": lambda value, other: (value // other, value % other),
}


def teach_torch() -> None:
    """Gives torch's symbolic numbers what numbers have: hash, float, copy, floor, NumPy's methods."""
    numbers.Integral.register(torch.SymInt)
    for name, method in _BOTH.items():
        setattr(torch.SymInt, name, method)
        setattr(torch.SymFloat, name, method)
    for name, method in _INTEGERS.items():
        setattr(torch.SymInt, name, method)


@lru_cache(maxsize=8)
def _using_torch(packages: tuple[str, ...], now: tuple[int, int]) -> tuple[ModuleType, ...]:
    """The modules of the packages that use torch, of those that are loaded now."""
    return tuple(
        module
        for name, module in list(sys.modules.items())
        if any(name == package or name.startswith(package + ".") for package in packages)
        and isinstance(module, ModuleType)
        and ({"torch", "nn"} & vars(module).keys() or name.startswith("torch.nn.modules") or _asks(module))
    )


def _asks(module: ModuleType) -> bool:
    """Whether a function of the module imports torch when it is called: one that rounds sizes does."""
    codes = (one.__code__ for one in vars(module).values() if isinstance(one, FunctionType))
    return any("torch" in code.co_varnames for code in codes)


@contextmanager
def symbolic_integers(packages: tuple[str, ...]) -> Iterator[None]:
    """Inside, modules of the named packages that use torch see `Integer` for `int`, all a `math` for both."""
    teach_torch()
    patched = [module for module in _using_torch(packages, loaded()) if "int" not in vars(module)]
    for module in patched:
        vars(module)["int"] = Integer
    try:
        with _symbols_in_math():
            yield
    finally:
        for module in patched:
            vars(module).pop("int", None)


@contextmanager
def symbols_written() -> Iterator[None]:
    """Inside, JSON writes a symbolic number as the number it is in this run: configs are logged so."""
    before = json.JSONEncoder.default

    def default(self: json.JSONEncoder, value: object) -> object:
        return value.node.hint if isinstance(value, Symbolic) else before(self, value)

    json.JSONEncoder.default = default  # type: ignore[method-assign,assignment]
    try:
        yield
    finally:
        json.JSONEncoder.default = before  # type: ignore[method-assign]


@contextmanager
def no_initialisation() -> Iterator[None]:
    """Inside, `torch.nn.init` leaves weights as they are: values do not matter, and symbols stay symbols."""
    names = [n for n in dir(torch.nn.init) if n.endswith("_") and not n.startswith("_")]
    saved = {name: getattr(torch.nn.init, name) for name in names}

    def keep(tensor: torch.Tensor, *args: object, **kwargs: object) -> torch.Tensor:
        return tensor

    for name in names:
        setattr(torch.nn.init, name, keep)
    try:
        yield
    finally:
        for name, function in saved.items():
            setattr(torch.nn.init, name, function)


@contextmanager
def distributions_unchecked() -> Iterator[None]:
    """Inside, `torch.distributions` take parameters whose values nobody has, without looking at them."""
    kind = torch.distributions.Distribution
    before = kind._validate_args
    kind.set_default_validate_args(False)
    try:
        yield
    finally:
        kind.set_default_validate_args(before)

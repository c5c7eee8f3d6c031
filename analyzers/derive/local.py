"""A boundary in; out the recipe that builds its class and calls it, alone, at sizes of its own names."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from forwardbook.analyzers.derive.boundary import Boundary, Watch, unbound
from forwardbook.analyzers.derive.handed import Leaf
from forwardbook.analyzers.derive.layout import TensorLayout
from forwardbook.analyzers.derive.names import Names
from forwardbook.analyzers.instances.recipe import InputMaker, Recipe, Sizes, full_name
from forwardbook.analyzers.symbolic.ledger import number_of
from forwardbook.formula import Expr
from forwardbook.formula.atoms import Atom, Extreme, Floor, Symbol


def _swapped(name: str, one: str, other: str) -> str:
    return {one: other, other: one}.get(name, name)


def _swap(table: dict[str, Any], one: str, other: str) -> None:
    here, there = table.pop(one, None), table.pop(other, None)
    for name, value in ((one, there), (other, here)):
        if value is not None:
            table[name] = value


def valued(value: Expr, size: Callable[[str], int]) -> int:
    """An expression at sizes that may be symbols themselves."""
    top, bottom = value.fraction()
    return _whole(top, size) if bottom == Expr.const(1) else _whole(top, size) // _whole(bottom, size)


def _whole(value: Expr, size: Callable[[str], int]) -> int:
    total: int = 0
    for monomial, coefficient in value.terms.items():
        term = int(coefficient)
        for atom, power in monomial.powers:
            for _ in range(power):
                term = _atom(atom, size) * term
        total = total + term
    return total


def _atom(atom: Atom, size: Callable[[str], int]) -> int:
    if isinstance(atom, Symbol):
        return size(atom.name)
    if isinstance(atom, Floor):
        return valued(atom.numerator, size) // valued(atom.denominator, size)
    assert isinstance(atom, Extreme)
    choose: Callable[[int, int], int] = torch.sym_max if atom.largest else torch.sym_min
    return functools.reduce(choose, (valued(one, size) for one in atom.arguments))


@dataclass
class Local:
    """A class alone: its boundary, the names there, and what each leaf's sizes are in these."""

    boundary: Boundary
    names: Names
    sizes: Mapping[str, Expr]
    definitions: dict[str, Expr] = field(default_factory=dict)
    """Names that are made of others here: what running demands."""
    quotients: dict[str, tuple[str, Expr]] = field(default_factory=dict)
    """Names that are a size divided by another, where running demands that nothing is left."""
    swaps: list[tuple[str, str]] = field(default_factory=list)
    """Names that changed places since the boundary was named."""
    watch: Watch = field(default_factory=Watch)
    """What the last run saw within."""

    @property
    def target(self) -> str:
        return full_name(self.boundary.kind)

    @property
    def free(self) -> dict[str, int]:
        """The names that are not made of others, with their numbers in the run."""
        return {name: hint for name, hint in self.names.hints.items() if name not in self.definitions}

    def bindings(self, callers: Mapping[str, Expr]) -> dict[str, Expr]:
        """What each name here is in a caller's names, of those at the boundary as `callers` has them.

        A quotient of what another boundary does not have is left out.
        """
        found = dict(callers)
        for one, other in self.swaps:
            _swap(found, one, other)
        for quotient, (name, divisor) in self.quotients.items():
            if {name, *divisor.symbols()} <= found.keys():
                found[quotient] = found[name].floordiv(divisor.subs(found))
        return found

    def swap(self, one: str, other: str) -> None:
        """Lets two names change places everywhere."""
        self.swaps.append((one, other))
        names, change = self.names, {one: Expr.symbol(other), other: Expr.symbol(one)}
        for table in (names.callers, names.hints, names.sources):
            _swap(table, one, other)
        names.known = {value: mine.subs(change) for value, mine in names.known.items()}
        self.sizes = {path: size.subs(change) for path, size in self.sizes.items()}
        self.definitions = {_swapped(n, one, other): v.subs(change) for n, v in self.definitions.items()}
        self.quotients = {
            _swapped(quotient, one, other): (_swapped(name, one, other), divisor.subs(change))
            for quotient, (name, divisor) in self.quotients.items()
        }

    def recipe(self, *, watched: bool = False) -> Recipe:
        """How to build and call it; if `watched`, what runs within is seen by `watch`."""
        return Recipe(
            target=self.target,
            library=self.target.partition(".")[0],
            build=self._watched if watched else self._build,
            inputs=self._inputs,
        )

    def _asker(self, sizes: Sizes) -> Callable[[str], int]:
        def ask(name: str) -> int:
            if name in self.definitions:
                return valued(self.definitions[name], ask)
            return sizes(name, self.names.hints[name], "", self.names.sources[name])

        return ask

    def _build(self, sizes: Sizes) -> torch.nn.Module:
        ask = self._asker(sizes)
        for name in self.names.hints:
            ask(name)

        def make(path: str, leaf: Leaf) -> object:
            if isinstance(leaf, TensorLayout):
                return torch.empty([number_of(one) for one in leaf.shape], dtype=leaf.dtype)
            return valued(self.sizes[f"built.{path}"], ask)

        kind = self.boundary.kind
        arguments = self.boundary.constructor.anew(make, self._dtypes())
        for path, leaf in self.boundary.constructor.leaves:
            if not isinstance(leaf, TensorLayout):
                _lengthen(arguments, path, number_of(leaf))
        args, kwargs = unbound(kind.__init__, arguments)
        return kind(*args, **kwargs)

    def _watched(self, sizes: Sizes) -> torch.nn.Module:
        self.watch = Watch()
        return self.watch.built(lambda: self._build(sizes))

    def _inputs(
        self, sizes: Sizes, module: torch.nn.Module, maker: InputMaker
    ) -> tuple[tuple[object, ...], dict[str, object]]:
        ask = self._asker(sizes)

        def make(path: str, leaf: Leaf) -> object:
            if not isinstance(leaf, TensorLayout):
                return valued(self.sizes[f"called.{path}"], ask)
            shape = [valued(self.sizes[f"called.{path}.{place}"], ask) for place in range(leaf.rank)]
            dtype = self._dtypes().get(leaf.dtype, leaf.dtype)
            return leaf.made(shape, lambda shape: _tensor(leaf, dtype, shape, maker))

        arguments = self.boundary.forward.anew(make, self._dtypes())
        for name, hint in self.names.hints.items():
            count = number_of(ask(name)) if self.names.sources[name] != "forward" else hint
            if count > hint > 1:
                others = [self.boundary.forward.anew(make, self._dtypes()) for _ in range(count // hint)]
                for place, value in arguments.items():
                    _more_layers(value, [other[place] for other in others], hint, count)
        return unbound(self.boundary.kind.forward, arguments)

    def _dtypes(self) -> dict[torch.dtype, torch.dtype]:
        """What the dtype of the run that showed the boundary is in the run that goes on."""
        return {self.boundary.dtype: torch.get_default_dtype()}


def _lengthen(arguments: Mapping[str, object], path: str, hint: int) -> None:
    """Lists of a config with an element for each layer get as many as there are, in the same order again."""
    *places, name = path.split(".")
    holder: object = arguments
    for place in places:
        holder = holder.get(place) if isinstance(holder, Mapping) else getattr(holder, place, None)
    if not hasattr(holder, "__dict__"):
        return
    count = number_of(vars(holder).get(name, hint))
    for key, value in vars(holder).items():
        if count > hint > 1 and type(value) is list and len(value) == hint:
            vars(holder)[key] = [value[place % hint] for place in range(count)]


def _more_layers(value: object, others: Sequence[object], hint: int, count: int) -> None:
    """A cache that has an element for each layer gets as many as there are, of others made like it."""
    for key, layers in vars(value).items() if hasattr(value, "__dict__") else ():
        if type(layers) is list and len(layers) == hint and all(hasattr(one, "__dict__") for one in layers):
            more = [one for other in others for one in vars(other)[key]]
            vars(value)[key] = [*layers, *more][:count]


def _tensor(like: TensorLayout, dtype: torch.dtype, shape: list[int], maker: InputMaker) -> Tensor:
    if dtype.is_floating_point or dtype.is_complex:
        return maker.floats(shape, dtype)
    if dtype == torch.bool or like.ones:
        return maker.ones(shape, dtype)
    return maker.made_up(maker.integers(shape, shape[-1] if shape else 1))

"""A boundary in; out the recipe that builds its class and calls it, alone, at sizes of its own names."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from forwardbook.analyzers.derive.boundary import Boundary, Watch, constructors, unbound
from forwardbook.analyzers.derive.handed import Leaf
from forwardbook.analyzers.derive.names import Names
from forwardbook.analyzers.instances.recipe import InputMaker, Recipe, Sizes, full_name
from forwardbook.analyzers.symbolic.ledger import number_of
from forwardbook.analyzers.symbolic.shadows import shadow
from forwardbook.formula import Expr
from forwardbook.formula.atoms import Atom, Extreme, Floor, Symbol


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
    watch: Watch = field(default_factory=Watch)
    """What the last run saw within."""

    @property
    def target(self) -> str:
        return full_name(self.boundary.kind)

    def bindings(self, callers: Mapping[str, Expr]) -> dict[str, Expr]:
        """What each name here is in a caller's names, of those at the boundary as `callers` has them."""
        found = dict(callers)
        for quotient, (name, divisor) in self.quotients.items():
            found[quotient] = found[name].floordiv(divisor.subs(found))
        return found

    def recipe(self) -> Recipe:
        """How to build and call it."""
        return Recipe(
            target=self.target,
            library=self.target.partition(".")[0],
            build=self._build,
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
            if isinstance(leaf, Tensor):
                return torch.empty([number_of(one) for one in leaf.shape], dtype=leaf.dtype)
            return valued(self.sizes[f"built.{path}"], ask)

        kind = self.boundary.kind
        args, kwargs = unbound(kind.__init__, self.boundary.constructor.anew(make))
        self.watch = Watch()
        with constructors(self.watch):
            module = kind(*args, **kwargs)
        self.watch.follow(module)
        return module

    def _inputs(
        self, sizes: Sizes, module: torch.nn.Module, maker: InputMaker
    ) -> tuple[tuple[object, ...], dict[str, object]]:
        ask = self._asker(sizes)

        def make(path: str, leaf: Leaf) -> object:
            if not isinstance(leaf, Tensor):
                return valued(self.sizes[f"called.{path}"], ask)
            shape = [valued(self.sizes[f"called.{path}.{place}"], ask) for place in range(leaf.dim())]
            return _laid(leaf, shape, lambda shape: _tensor(leaf, shape, maker))

        return unbound(self.boundary.kind.forward, self.boundary.forward.anew(make))


def _laid(like: Tensor, shape: list[int], make: Callable[[list[int]], Tensor]) -> Tensor:
    """A tensor of a shape that lies in memory as another does: in which order, and what is expanded."""
    strides = [number_of(one) for one in like.stride()]
    numbers = [number_of(one) for one in like.shape]
    expanded = [stride == 0 and number > 1 for stride, number in zip(strides, numbers, strict=True)]
    own = [1 if wide else size for size, wide in zip(shape, expanded, strict=True)]
    order = sorted(range(len(shape)), key=lambda place: (-strides[place], place))
    if any(numbers[place] == 1 for place in order):  # where a size is 1 its stride says nothing
        order = [*range(len(shape))] if like.is_contiguous() else order
    made = make([own[place] for place in order])
    back = [order.index(place) for place in range(len(order))]
    made = made.permute(back) if back != sorted(back) else made
    return made.expand(shape) if any(expanded) else made


def _tensor(like: Tensor, shape: list[int], maker: InputMaker) -> Tensor:
    if like.dtype.is_floating_point or like.dtype.is_complex:
        default = torch.get_default_dtype()
        return maker.floats(shape, None if like.dtype in (torch.float32, default) else like.dtype)
    value = shadow(like)
    if like.dtype == torch.bool or (value is not None and bool((value == 1).all())):
        return maker.ones(shape, like.dtype)
    return maker.made_up(maker.integers(shape, shape[-1] if shape else 1))

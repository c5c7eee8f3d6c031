"""Names the sizes at the boundary of a class: its own first, fresh ones for what a caller computed."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from forwardbook.analyzers.derive.boundary import Boundary
from forwardbook.analyzers.derive.layout import Size, TensorLayout
from forwardbook.analyzers.symbolic.ledger import number_of
from forwardbook.formula import Expr

USUAL: Final[Mapping[int, tuple[str, ...]]] = {
    1: ("batch_size",),
    2: ("batch_size", "seq_len"),
    3: ("batch_size", "seq_len", "width"),
    4: ("batch_size", "channels", "height", "width"),
    5: ("batch_size", "channels", "frames", "height", "width"),
}
"""What the dimensions of an input are called where nothing else names them, by how many there are."""

OF_CACHE: Final = ("batch_size", "num_key_value_heads", "past_len", "head_dim")
"""The same of keys and values of a cache."""
Read = Callable[[Size], Expr]
"""A size as an expression in the caller's names."""


@dataclass
class Names:
    """The names at a boundary: what each is in the caller's names, its number there, where it comes from."""

    callers: dict[str, Expr] = field(default_factory=dict)
    hints: dict[str, int] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    known: dict[Expr, Expr] = field(default_factory=dict)
    """Expressions in the caller's names that have a name here, and that name."""
    turn: int = 0
    """Which one that is where several names are equal to the caller: `in_channels` or `out_channels`."""
    told: set[int] = field(default_factory=lambda: {0, 1})
    """Plain numbers that the constructor is told, and 1: a size of that many is no name."""
    equal: Counter[Expr] = field(default_factory=Counter)
    """How many names each expression has beside the first."""

    def fresh(self, value: Expr, wish: str, hint: int, source: str) -> Expr:
        """A new name for an expression of the caller, as it is wished or with a number behind."""
        wishes = itertools.chain([wish], (f"{wish}_{number}" for number in itertools.count(2)))
        name = next(one for one in wishes if one not in self.callers)
        self.callers[name], self.hints[name], self.sources[name] = value, hint, source
        symbol = Expr.symbol(name)
        if value in self.known:
            self.equal[value] += 1
        if self.equal[value] <= self.turn:
            self.known[value] = symbol
        return symbol

    def is_told(self, value: Expr) -> bool:
        """Whether a size is a number here as well."""
        return value.is_const and value.const_value() in self.told

    def of(self, value: Expr) -> Expr:
        """A number, what has a name here, or a product or sum of two that have one, in names of here.

        Raises:
            LookupError: where it is none of these.
        """
        if value in self.known or self.is_told(value):
            return self.known.get(value, value)
        for (a, mine), (b, other) in itertools.combinations_with_replacement(self.known.items(), 2):
            if a * b == value:
                return mine * other
            if a + b == value:
                return mine + other
        raise LookupError(value.text())


def names_of(
    boundary: Boundary, read: Read, turn: int = 0, *, ones: bool = False
) -> tuple[Names, dict[str, Expr]]:
    """The names at a boundary, and what each size there is in these, by its path.

    The path of a constructor's size is that of its leaf after `built.`, of a tensor's that of the tensor
    after `called.` and its dimension. What a constructor takes is called by its parameter or the field of its
    config, each by itself; what forward() takes by these where it is equal to one, else by the usual words.
    Sizes that are products or sums of two others at the boundary are made of these. Where several names are
    equal, `turn` says which of them a size of forward() is. With `ones` a 1 has a name like any number.
    """
    names, sizes = Names(turn=turn), dict[str, Expr]()
    for path, leaf in boundary.constructor.leaves:
        if not isinstance(leaf, TensorLayout):
            argument, _, field_ = path.partition(".")
            of_config = bool(field_) and hasattr(boundary.constructor.arguments[argument], "__dict__")
            value = read(leaf)
            if value.is_const or (of_config and value in names.known):
                sizes[f"built.{path}"] = names.known.get(value, value)
            else:
                source = "config" if of_config else "constructor"
                sizes[f"built.{path}"] = names.fresh(value, word(path), number_of(leaf), source)
    names.told |= _numbers(boundary.constructor.arguments, 3)
    if ones:
        names.told.discard(1)
    taken = [(path, read(size), wish, number_of(size)) for path, size, wish in _sizes(boundary)]
    fresh = _basis((value for _, value, _, _ in taken), names)
    for _, value, wish, hint in taken:
        if value in fresh and value not in names.known:
            names.fresh(value, wish, hint if hint > 1 or ones else _larger(names), "forward")
    return names, sizes | {path: names.of(value) for path, value, _, _ in taken}


def _larger(names: Names) -> int:
    """A number for a size that is 1 in the caller's run, though it need not be: unlike all others."""
    return next(number for number in itertools.count(3) if number not in names.hints.values())


def _numbers(value: object, depth: int) -> set[int]:
    """The plain integers in arguments, and in what they hold."""
    if type(value) is int:
        return {value}
    if isinstance(value, Mapping):
        inner: Iterable[object] = value.values()
    elif isinstance(value, list | tuple):
        inner = value
    else:
        inner = vars(value).values() if depth and hasattr(value, "__dict__") else ()
    return set().union(*(_numbers(one, depth - 1) for one in inner)) if depth else set()


def word(path: str) -> str:
    """The last name of a path, with the places after it: `config.conv_dim.0` is called `conv_dim_0`."""
    parts = path.split(".")
    last = max((place for place, part in enumerate(parts) if not part.isdigit()), default=0)
    return "_".join(parts[last:])


def _sizes(boundary: Boundary) -> Iterator[tuple[str, Size, str]]:
    """The sizes that forward() takes: path, size, and the usual word."""
    for path, leaf in boundary.forward.leaves:
        if not isinstance(leaf, TensorLayout):
            yield f"called.{path}", leaf, word(path)
            continue
        words = USUAL.get(leaf.rank, tuple(f"size_{place}" for place in range(leaf.rank)))
        if leaf.rank == len(OF_CACHE) and path.rpartition(".")[2] in ("keys", "values"):
            words = OF_CACHE
        for place, size in enumerate(leaf.shape):
            yield f"called.{path}.{place}", size, words[place]


def _basis(values: Iterable[Expr], names: Names) -> set[Expr]:
    """Of the values that have no name those that are no product or sum of two others."""
    new = dict.fromkeys(one for one in values if not names.is_told(one) and one not in names.known)
    made: set[Expr] = set()
    for value in sorted(new, key=lambda one: len(one.text()), reverse=True):
        others = [one for one in (*new, *names.known) if one != value and one not in made]
        pairs = itertools.combinations_with_replacement(others, 2)
        if any(value in (a * b, a + b) for a, b in pairs):
            made.add(value)
    return new.keys() - made

"""A measured call and an entry in; which of its signatures that is, and the sizes of its names, out."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from pydantic import JsonValue

from forwardbook.analyzers.derive.boundary import Boundary
from forwardbook.analyzers.derive.layout import TensorLayout
from forwardbook.analyzers.symbolic.ledger import number_of
from forwardbook.analyzers.symbolic.trace import general
from forwardbook.entries.definitions import completed
from forwardbook.entries.expressions import RegimeExpressions, expression
from forwardbook.entries.record import Argument
from forwardbook.entries.regimes import Regimes, Signature
from forwardbook.errors import FormulaError
from forwardbook.formula import Expr
from forwardbook.pipeline.composed.facts import facts_of, path_of_caller
from forwardbook.pipeline.composed.signatures import choice_of, label_of
from forwardbook.pipeline.ordinary.numbers import numbers_of

DEEP: Final = 2
"""Names in the path of a tensor that an entry lists only where it costs: one within a cache."""
SEVERAL: Final = 64
"""Ways to read names of which a config has several that are tried."""
LAYER: Final = "layer_idx"
"""What constructors call the place of a layer among all."""
_NONE: Final = object()


@dataclass(frozen=True)
class Fit:
    """A signature for a call: the sizes of its names, those that nothing tells, and in what it differs."""

    signature: Signature
    sizes: Mapping[str, int]
    missing: tuple[str, ...] = ()
    differs: tuple[str, ...] = ()
    unsaid: tuple[str, ...] = ()
    """Choices of the call that others say and this one, which says all of its own, does not."""

    @property
    def rank(self) -> tuple[int, bool, int, int]:
        """What makes it likelier than others: less that differs, nothing missing, more choices that agree."""
        return len(self.differs), bool(self.missing), len(self.unsaid), -len(choices_of(self.signature))


def fits(regimes: Regimes, key: str, boundary: Boundary, known: Mapping[str, int]) -> list[Fit]:
    """The signatures of an entry for a call, the likeliest first.

    `known` are sizes that no boundary tells: bytes of elements, and what only data decides. A name is read
    from a config field or argument of the constructor of that name, or follows from the shapes that
    forward() is handed and from definitions. Of signatures that fit equally well the one of which more
    choices agree is first.
    """
    entry = regimes.entry(regimes.holder(key))
    sources = {one.name: one.source for one in entry.names}
    told = facts_of(boundary).told
    facts = {label_of(path): choice_of(one) for path, one in told.items()}
    call = _Call(boundary, sources, dict(known))
    tensors = call.tensors.keys()
    every = [regimes.signature(key, name) for name in regimes.signatures(key)]
    said = {
        path
        for one in every
        for path, value in choices_of(one).items()
        if path not in tensors and facts.get(path, _NONE) == value
    }
    found = []
    for signature in every:
        fit = call.fit(signature, _other_choices(signature, facts, tensors))
        own = choices_of(signature)
        unsaid = sorted(said - own.keys())
        found.append(replace(fit, unsaid=tuple(f"{path} is {facts[path]!r}" for path in unsaid)))
    return sorted(found, key=lambda one: one.rank)


def choices_of(signature: Signature) -> Mapping[str, JsonValue]:
    """What tells a signature from the others of its class."""
    return signature.regimes[0].regime.choices


def _other_choices(
    signature: Signature, facts: Mapping[str, JsonValue], tensors: Collection[str]
) -> tuple[str, ...]:
    """The choices of a signature that a call does not have; of tensors its arguments say how they are."""
    choices = choices_of(signature)
    return tuple(
        f"{path} is {facts.get(path)!r}, not {value!r}"
        for path, value in choices.items()
        if path not in tensors and facts.get(path, _NONE) != value
    )


class _Call:
    """One call, as the names of an entry are read from it."""

    def __init__(self, boundary: Boundary, sources: Mapping[str, str], known: Mapping[str, int]) -> None:
        self.boundary, self.sources, self.known = boundary, sources, known
        self.built = numbers_of(boundary.constructor.arguments)
        self.called = numbers_of(boundary.forward.arguments)
        self.tensors = _tensors(boundary, self.built.of(LAYER))

    def fit(self, signature: Signature, other: tuple[str, ...]) -> Fit:
        """The signature with what could be read."""
        best: Fit | None = None
        for regime in signature.regimes:
            names = frozenset(signature.names) | _names_of(regime)
            for start in itertools.islice(self._starts(sorted(names)), SEVERAL):
                one = self._complete(signature, regime, names, start, other)
                if best is None or _worth(one) < _worth(best):
                    best = one
                if not one.missing and one.differs == other:
                    return one
        assert best is not None  # a signature has a regime
        return best

    def _starts(self, names: list[str]) -> Iterator[dict[str, int]]:
        """The sizes that are read, one way after another where there are several."""
        fixed = {name: self.known[name] for name in names if name in self.known}
        wanted = [
            name
            for name in names
            if name not in fixed and self.sources.get(name, "data") not in ("forward", "data")
        ]
        read = {name: found for name in wanted if (found := self.built.of(name))}
        for values in itertools.product(*read.values()):
            yield fixed | dict(zip(read, values, strict=True))

    def _complete(
        self,
        signature: Signature,
        regime: RegimeExpressions,
        names: frozenset[str],
        start: dict[str, int],
        other: tuple[str, ...],
    ) -> Fit:
        """All sizes that follow, one argument after another; one that contradicts is told and left out."""
        differs, equations, sizes = list(other), dict(regime.definitions), dict(start)
        try:
            sizes = completed(equations, sizes)
        except FormulaError as error:
            return Fit(signature, start, (), (*other, str(error)))
        listed = {one.path for one in regime.regime.arguments}
        differs += [
            f"{path} is given" for path in self.tensors if path not in listed and path.count(".") < DEEP
        ]
        for argument in regime.regime.arguments:
            problem = self._unlike(argument)
            if problem:
                differs.append(problem)
                continue
            layout = self.tensors[argument.path]
            more = {
                f"{argument.path}[{place}]": expression(text) for place, text in enumerate(argument.shape)
            }
            told = {name: number_of(size) for name, size in zip(more, layout.shape, strict=True)}
            try:
                sizes = completed(equations | more, sizes | told)
                equations |= more
            except FormulaError as error:
                differs.append(str(error))
        sizes = self._rest(names, equations, sizes)
        missing = tuple(sorted(names - sizes.keys()))
        own = {name: size for name, size in sizes.items() if name in names}
        return Fit(signature, own, tuple(n for n in missing if n in _needed(signature)), tuple(differs))

    def _rest(
        self, names: frozenset[str], equations: dict[str, Expr], sizes: dict[str, int]
    ) -> dict[str, int]:
        """With plain numbers that are handed over under the names that are left."""
        for name in sorted(names - sizes.keys()):
            for value in (*self.called.of(name), *self.built.of(name)):
                try:
                    sizes = completed(equations, {**sizes, name: value})
                    break
                except FormulaError:
                    continue
        return sizes

    def _unlike(self, argument: Argument) -> str:
        """In what a tensor is otherwise than an argument of the entry; nothing where it is not."""
        layout = self.tensors.get(argument.path)
        if layout is None:
            return f"{argument.path} is not given"
        if layout.rank != len(argument.shape):
            return f"{argument.path} has {layout.rank} dimensions, not {len(argument.shape)}"
        usual_format = layout.dtype == self.boundary.dtype and argument.dtype == "a"
        if not usual_format and str(layout.dtype).removeprefix("torch.") != argument.dtype:
            return f"{argument.path} is {layout.dtype}, not {argument.dtype}"
        wide = [place for place, size in enumerate(layout.shape) if number_of(size) > 1]
        usual = argument.order or tuple(range(layout.rank))
        if [one for one in usual if one in wide] != [one for one in layout.order if one in wide]:
            return f"{argument.path} lies in memory in another order"
        if {one for one in argument.expanded if one in wide} != {*layout.expanded}:
            return f"{argument.path} is expanded along other dimensions"
        return ""


def _tensors(boundary: Boundary, layer: tuple[int, ...]) -> dict[str, TensorLayout]:
    """The tensors that forward() is handed by path; of those of a list that of the layer, or the first.

    A cache has one for each layer, and those of the layers before are longer by then.
    """
    found: dict[str, TensorLayout] = {}
    for path, leaf in boundary.forward.leaves:
        if isinstance(leaf, TensorLayout):
            place = general(path_of_caller(boundary, path))
            if place not in found or any(part == str(one) for part in path.split(".") for one in layer):
                found[place] = leaf
    return found


def _names_of(regime: RegimeExpressions) -> frozenset[str]:
    """The names of a regime and those in the shapes of its arguments."""
    shapes = (expression(text) for one in regime.regime.arguments for text in one.shape)
    return regime.names.union(*(one.symbols() for one in shapes))


def _needed(signature: Signature) -> frozenset[str]:
    return frozenset[str]().union(*(one.needed for one in signature.regimes))


def _worth(one: Fit) -> tuple[int, int]:
    return len(one.differs), len(one.missing)

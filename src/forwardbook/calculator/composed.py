"""Calculators that add a class's own cost and those of its calls: what a generated one of these rests on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from typing import ClassVar, Final, cast

from forwardbook.calculator.choice import WIDTHS, CalculatorError, OutsideRegimesError
from forwardbook.calculator.formulas import Costs

SHIPPED: Final = "forwardbook.generated_modules.composed"
"""The package of calculators that came with the installation."""
SUMMED: Final = ("flops", "pointwise_ops", "reads", "writes", "weights", "weights_read", "intermediates")
"""The quantities of which a call has its own, and those of the calls that it makes, in sum."""
MAX_DEPTH: Final = 100
"""Calls within calls: models have about ten."""
MAX_STEPS: Final = 100_000
"""Regimes tried and calls made in one evaluation, each distinct one once: models have a few hundred."""


@dataclass(frozen=True, slots=True)
class Own:
    """What the lines of a class cost themselves, in numbers, and the calls that they make."""

    flops: int = 0
    pointwise_ops: int = 0
    reads: int = 0
    writes: int = 0
    weights: int = 0
    weights_read: int = 0
    intermediates: int = 0
    boundary: int = 0
    states: tuple[int, ...] = ()
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True, slots=True)
class Call:
    """So many calls of one class with its sizes; `child` is a module beside this and a class there."""

    child: str
    signature: str
    sizes: Mapping[str, int]
    times: int = 1
    live: int = 0


@dataclass(frozen=True, slots=True)
class Definition:
    """A name made of others; it is linear in each of those that are `solved`."""

    name: str
    of: tuple[str, ...]
    solved: tuple[str, ...]
    value: Callable[..., int]

    def settle(self, sizes: dict[str, int]) -> bool:
        """Whether all its names have a size now; ValueError where they disagree."""
        unknown = [name for name in self.of if name not in sizes]
        if not unknown:
            found = self._at(sizes)
            if sizes.setdefault(self.name, found) != found:
                raise ValueError(self.name)
            return True
        if len(unknown) > 1 or unknown[0] not in self.solved or self.name not in sizes:
            return False
        once, twice = (self._at({**sizes, unknown[0]: size}) for size in (1, 2))
        if once == twice:
            return False
        more, rest = divmod(sizes[self.name] - once, twice - once)
        if rest or more + 1 < 0:
            raise ValueError(self.name)
        sizes[unknown[0]] = more + 1
        return True

    def _at(self, sizes: Mapping[str, int]) -> int:
        return self.value(*(sizes[name] for name in self.of))


class ComposedRegime:
    """The formulas of one regime; methods take sizes by name and ignore those that they do not need."""

    name: ClassVar[str]
    signature: ClassVar[str]
    parameters: ClassVar[tuple[str, ...]] = ()
    """All names; a regime needs those that are no names of definitions alone, `needed`."""
    needed: ClassVar[tuple[str, ...]] = ()
    may_be_zero: ClassVar[tuple[str, ...]] = ()
    python_names: ClassVar[dict[str, str]] = {}
    conditions: ClassVar[tuple[str, ...]] = ()
    definitions: ClassVar[tuple[Definition, ...]] = ()
    own: ClassVar[Callable[..., Own]]

    @staticmethod
    def holds(**_: int) -> tuple[bool, ...]:
        """Whether each of `conditions` is true."""
        return ()

    @classmethod
    def arguments(cls, given: Mapping[str, int]) -> dict[str, int] | None:
        """The sizes of all names as the methods take them, or None where the regime does not hold."""
        sizes = dict(given)
        waiting = list(cls.definitions)
        while settled := [one for one in waiting if one.settle(sizes)]:
            waiting = [one for one in waiting if one not in settled]
        if any(name not in sizes for name in cls.needed):
            return None
        known = {name: sizes[name] for name in cls.parameters if name in sizes}
        if any(size < (name not in cls.may_be_zero) for name, size in known.items()):
            return None
        arguments = {cls.python_names.get(name, name): size for name, size in known.items()}
        return arguments if all(cls.holds(**arguments)) else None


class ComposedCalculator:
    """The costs of one class: sizes in, its own and those of its calls out."""

    full_class_name: ClassVar[str] = ""
    regimes: ClassVar[tuple[type[ComposedRegime], ...]] = ()

    def costs(self, /, **sizes: int) -> Costs[int]:
        """All quantities of one call, and the name of the regime that gave them."""
        return self.costs_at(sizes)

    def costs_at(self, sizes: Mapping[str, int], signature: str | None = None) -> Costs[int]:
        """The same for sizes as a dictionary; of the signatures that have all names the first that holds.

        Raises:
            OutsideRegimesError: none holds.
        """
        walk = _Walk()
        for name in [signature] if signature is not None else self._signatures(sizes):
            if (found := walk.total(type(self), name, sizes, 0)) is not None:
                own, peak = found.own, found.peak
                boundary = own.boundary + own.weights_read
                moved = (own.flops, own.pointwise_ops, own.reads, own.writes, own.weights)
                return Costs(found.regime, *moved, boundary, own.intermediates, peak)
        told = ", ".join(f"{name}={size}" for name, size in sizes.items()) or "no sizes"
        raise OutsideRegimesError(
            f"evaluating {self.full_class_name}: no regime holds for {told}; "
            f"forwardbook evaluate {self.full_class_name} ... says why"
        )

    def _signatures(self, sizes: Mapping[str, int]) -> Iterator[str]:
        for signature in dict.fromkeys(one.signature for one in self.regimes):
            names = {name for one in self.regimes if one.signature == signature for name in one.parameters}
            if sizes.keys() - WIDTHS <= names:
                yield signature


@dataclass(frozen=True, slots=True)
class _Total:
    """The costs of a call in all; of the boundary only its own part counts."""

    regime: str
    own: Own
    peak: int


@dataclass(slots=True)
class _Walk:
    """One evaluation; equal calls are made once."""

    known: dict[object, _Total | None] = field(default_factory=dict)
    steps: int = 0

    def total(
        self, calculator: type[ComposedCalculator], signature: str, sizes: Mapping[str, int], depth: int
    ) -> _Total | None:
        """What a call costs by the first regime that holds; None where none does."""
        place = (calculator, signature, tuple(sorted(sizes.items())))
        if place not in self.known:
            self.steps += 1
            if depth > MAX_DEPTH or self.steps > MAX_STEPS:
                raise CalculatorError(f"evaluating {calculator.full_class_name}: its calls do not end")
            regimes = (one for one in calculator.regimes if one.signature == signature)
            tried = (self._try(calculator, one, sizes, depth) for one in regimes)
            self.known[place] = next((one for one in tried if one is not None), None)
        return self.known[place]

    def _try(
        self,
        home: type[ComposedCalculator],
        regime: type[ComposedRegime],
        sizes: Mapping[str, int],
        depth: int,
    ) -> _Total | None:
        try:
            arguments = regime.arguments(sizes)
            if arguments is None:
                return None
            own = regime.own(**arguments)
        except (ValueError, ZeroDivisionError):  # definitions disagree, or a formula has no value
            return None
        sums = {name: getattr(own, name) for name in SUMMED}
        peak = max(own.states, default=0)
        for call in own.calls:
            if call.times == 0:
                continue
            child = self.total(_child(home.__module__, call.child), call.signature, call.sizes, depth + 1)
            if child is None or call.times < 0:
                return None
            sums = {name: sums[name] + call.times * getattr(child.own, name) for name in SUMMED}
            peak = max(peak, call.live + child.peak)
        return _Total(regime.name, Own(**sums, boundary=own.boundary), peak)


@lru_cache(maxsize=4096)
def _child(home: str, child: str) -> type[ComposedCalculator]:
    """The calculator of a called class: beside the module that calls it, else of the installation."""
    module, _, name = child.rpartition(".")
    for package in dict.fromkeys((home.rpartition(".")[0], SHIPPED)):
        try:
            found = import_module(f"{package}.{module}") if package else None
        except ModuleNotFoundError as error:
            if error.name is None or not f"{package}.{module}".startswith(error.name):
                raise
            continue
        if found is not None:
            return cast("type[ComposedCalculator]", getattr(found, name))
    raise CalculatorError(f"looking for the calculator {child}: it is not beside {home}; generate it as well")

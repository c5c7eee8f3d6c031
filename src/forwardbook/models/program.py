"""The formulas of a phase in; one program that evaluates every layer of it at a point, and the whole, out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from forwardbook.formula import Expr, parse
from forwardbook.formula.rational import Rational
from forwardbook.formula.together import Together
from forwardbook.models.record import LayerCosts, PhaseCosts, Quantities

QUANTITIES: Final = tuple(Quantities.model_fields)
KEPT: Final = 64  # programs at hand; one takes milliseconds to make


@dataclass(frozen=True, slots=True)
class Layer:
    """Which layer numbers belong to: its full name, the part below its parent, how often it is called."""

    name: str
    label: str
    class_name: str
    times: int
    depth: int


@dataclass(frozen=True, slots=True)
class Found:
    """Each layer from the model inwards with the quantities of one call and those of its own forward().

    Where a layer has no parts the two are one object.
    """

    layers: Sequence[tuple[Layer, Sequence[Rational], Sequence[Rational]]]
    cache: Rational


@lru_cache(maxsize=1 << 15)
def parsed(text: str) -> Expr:
    """A formula read once."""
    return parse(text)


class Program:
    """A phase made ready; with `executed`, flops are those that the masks of attention leave."""

    def __init__(self, phase: PhaseCosts, executed: bool) -> None:
        self._executed = executed
        unknown: list[str] = []
        self._layers: list[tuple[Layer, int, int]] = []
        self._formulas: list[Expr] = []
        self._spared_of: dict[int, Expr] = {}
        for layer, costs in _walk(phase.model):
            if executed:
                unknown += [layer.name for one in costs.attention if one.executed is None]
            one = self._placed(self._whole(costs))
            own = self._placed(self._own(costs)) if costs.sub_layers else one
            self._layers.append((layer, one, own))
        self.unknown_masks = tuple(unknown)
        self._whole_only = Together(self._formulas[: len(QUANTITIES)])
        self._all = Together([*self._formulas, parsed(phase.cache)])

    def at(self, values: Mapping[str, Rational]) -> Found:
        """Every layer, and the bytes of the cache before the call."""
        numbers, count = self._all.at(values), len(QUANTITIES)
        layers = []
        for layer, one, own in self._layers:
            whole = numbers[one : one + count]
            layers.append((layer, whole, whole if own == one else numbers[own : own + count]))
        return Found(layers, numbers[-1])

    def whole_at(self, values: Mapping[str, Rational]) -> Sequence[Rational]:
        """The quantities of the whole model."""
        return self._whole_only.at(values)

    def _placed(self, formulas: Sequence[Expr]) -> int:
        self._formulas += formulas
        return len(self._formulas) - len(formulas)

    def _whole(self, costs: LayerCosts) -> list[Expr]:
        """One call of the layer."""
        flops, *others = _formulas(costs)
        return [flops - self._spared(costs), *others]

    def _own(self, costs: LayerCosts) -> list[Expr]:
        """What the layer's forward() adds to its parts; its peak is that of the whole call."""
        *sums, peak = self._whole(costs)
        for child in costs.sub_layers:
            *theirs, _ = self._whole(child)
            sums = [mine - part * child.repeat for mine, part in zip(sums, theirs, strict=True)]
        return [*sums, peak]

    def _spared(self, costs: LayerCosts) -> Expr:
        """The flops that masks leave out in one call of the layer and of all beneath it."""
        if not self._executed:
            return Expr.const(0)
        if id(costs) not in self._spared_of:
            itself = [
                (parsed(one.dense) - parsed(one.executed)) * one.count
                for one in costs.attention
                if one.executed is not None
            ]
            beneath = [self._spared(child) * child.repeat for child in costs.sub_layers]
            self._spared_of[id(costs)] = Expr.sum([*itself, *beneath])
        return self._spared_of[id(costs)]


def _formulas(costs: LayerCosts) -> list[Expr]:
    return [parsed(getattr(costs.costs, name)) for name in QUANTITIES]


def _walk(
    costs: LayerCosts, path: str = "", times: int = 1, depth: int = 0
) -> Iterator[tuple[Layer, LayerCosts]]:
    name = f"{path}.{costs.name}" if path and costs.name else costs.name or path
    times *= costs.repeat
    yield Layer(name, costs.name, costs.class_name, times, depth), costs
    for child in costs.sub_layers:
        yield from _walk(child, name, times, depth + 1)


_programs: dict[tuple[int, bool], tuple[PhaseCosts, Program]] = {}


def program_of(phase: PhaseCosts, executed: bool) -> Program:
    """The program of a phase, made once. Phases are told apart as objects: comparing them takes long."""
    key = (id(phase), executed)
    if key not in _programs:
        if len(_programs) >= KEPT:
            _programs.pop(next(iter(_programs)))
        _programs[key] = (phase, Program(phase, executed))
    return _programs[key][1]

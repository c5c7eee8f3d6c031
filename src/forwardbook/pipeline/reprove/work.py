"""What a child process does for a reproof: call classes at fresh sizes, hold stored formulas against that."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, cast

import torch
from pydantic import JsonValue

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.symbolic.patterns import class_name
from forwardbook.analyzers.symbolic.trace import Trace
from forwardbook.formula import Condition
from forwardbook.pipeline.child.overtime import Clock, Overtime
from forwardbook.pipeline.child.request import Request, Response
from forwardbook.pipeline.derivation.unsized import unsized
from forwardbook.pipeline.reprove.again import AGAIN, LATE
from forwardbook.pipeline.reprove.held import Again, Flips
from forwardbook.pipeline.reprove.stored_regimes import StoredRegime
from forwardbook.profiling.asked import Asked, asked_of
from forwardbook.profiling.proof import UNEQUAL, measure, widths_of
from forwardbook.profiling.raised import first_line_kept
from forwardbook.profiling.sizes import draw
from forwardbook.schema import Entry

TRIES: Final = 16
ALL_LARGE: Final = 4  # tries in which every size is larger; then a growing share stays small
MOST_STAY: Final = 10  # from this try on a size is as the model has it, or a multiple of that
INPUTS_ALONE: Final = 14  # from this try on only what inputs alone have is a multiple
DTYPES: Final = (torch.float32, torch.bfloat16)


def work(request: Request) -> Response:
    """Each stored entry measured again; one run serves all entries and regimes that it can."""
    return worked(request, Runs)


def worked(request: Request, made: Callable[[Request, Clock], Runs]) -> Response:
    """What came of each stored entry in these runs."""
    entries = [Again(key, Entry.model_validate(raw), request.wanted) for key, raw in request.stored.items()]
    clock = Clock(request.budget * len(entries))
    runs = made(request, clock)
    late = ""
    try:
        with clock.within():
            runs.through(entries)
    except Overtime:
        late = LATE
    results = [one.result(late).model_dump(mode="json") for one in entries]
    return Response(diagnostics={AGAIN: cast("JsonValue", results)})


@dataclass(frozen=True)
class Way:
    """A recipe with one way of making inputs, what it asks for, and which run it is: others may share it."""

    asked: Asked
    told: tuple[str, ...]
    """What its config says beside sizes."""
    key: tuple[object, ...]
    data: Mapping[str, int]
    """The sizes that only data decides, as a run at its sizes has them."""

    @property
    def recipe(self) -> Recipe:
        """How it is called."""
        return self.asked.recipe

    @property
    def hints(self) -> Mapping[str, int]:
        """Its sizes, as its model has them."""
        return {**self.asked.hints, **self.data}

    @property
    def inputs(self) -> frozenset[str]:
        """The sizes that its inputs have and nothing is built with."""
        return self.asked.of_inputs


Call = tuple[Again, StoredRegime, Way]


def _fits(entry: Again, one: StoredRegime, way: Way) -> bool:
    """Whether a regime speaks of a way: it has the sizes, and what is no size is as the regime says."""
    reason = ""
    if unknown := one.names - way.hints.keys():
        reason = f"this way has no size called {', '.join(sorted(unknown))}"
    elif not one.is_of_sizes(way.hints):
        reason = "this way has sizes that were none of its proof"
    elif other := one.of_another_config(way.told):
        reason = f"this way's is not {other[0]}"
    if reason:
        entry.note(one, reason)
    return not reason


class Runs:
    """The runs of the ways that a group of entries has in common."""

    def __init__(self, request: Request, clock: Clock) -> None:
        self.scale, self.clock = request.scale, clock
        self.rng = random.Random(f"{request.seed} {' '.join(request.stored)}")
        self._called: dict[tuple[object, ...], tuple[frozenset[str], Mapping[str, int]]] = {}

    def through(self, entries: Sequence[Again]) -> None:
        """Take of every entry the next way to call it, until nothing is open or no way is left."""
        waiting = list(entries)
        while waiting:
            ways: dict[tuple[object, ...], list[Call]] = {}
            for entry in list(waiting):
                taken = next(entry.recipes, None) if entry.open() else None
                if taken is None:
                    waiting.remove(entry)
                    continue
                recipe, flips = taken
                mine = [one for one in entry.open(flips) if one.belongs_to(recipe.scenario)]
                way = self._way(entry, recipe, flips) if mine else None
                if way is not None and not (way.asked.is_of_one_size and entry.put_off(taken)):
                    fitting = [one for one in mine if _fits(entry, one, way)]
                    ways.setdefault(way.key, []).extend((entry, one, way) for one in fitting)
            for same in ways.values():
                self.measured(same)

    def _way(self, entry: Again, recipe: Recipe, flips: Flips) -> Way | None:
        """The recipe with the first way of making inputs that runs, and its sizes."""
        for inputs in (recipe.inputs, *recipe.alternatives):
            one = replace(recipe, inputs=inputs, alternatives=())
            try:
                asked = asked_of(one)
                model = unsized(one.build)
                told = tuple(text for _, _, text in model.told)
                key = (
                    model.root,
                    recipe.target if model.root in (recipe.target, recipe.calls_as) else "",
                    recipe.scenario,
                    tuple(sorted(flips.items())),
                    tuple(sorted(asked.hints.items())),
                    asked.shapes,
                    asked.doubled,
                    told,
                )
                if key not in self._called:
                    trace = measure(one, asked.hints, torch.float32, widths_of(torch.float32))
                    self._called[key] = frozenset(class_name(c.module) for c in trace.calls), trace.data
            except Exception as error:  # noqa: BLE001 - another way may run; else the reason is told
                entry.reason = entry.reason or first_line_kept(error)
                continue
            called, data = self._called[key]
            if one.calls_as in called:
                return Way(asked, told, key, data)
        return None

    def measured(self, same: Sequence[Call]) -> None:
        """What becomes of all regimes of one way."""
        for dtype in DTYPES:
            self.measured_in(dtype, same)

    def measured_in(self, dtype: torch.dtype, same: Sequence[Call]) -> None:
        """Points of every regime of one way in one number format, at sizes as large as the module takes."""
        done: set[int] = set()
        for place, (entry, one, way) in enumerate(same):
            again = dtype != torch.float32 and bool(entry.met[one.regime.name].points)
            widths = UNEQUAL if again and entry.speaks_at(one, UNEQUAL) else widths_of(dtype)
            if place in done or not one.holds_for(widths):
                continue
            for attempt in range(TRIES):
                drawn = self._drawn(entry, one, way, dtype, widths, attempt)
                if drawn is None:
                    continue
                trace, values = drawn
                for other, (theirs, regime, its) in enumerate(same):
                    fits = other not in done and regime.holds(values)
                    fits = fits and (widths is not UNEQUAL or theirs.speaks_at(regime, UNEQUAL))
                    if fits and (guessed := regime.guessed(trace.assumed)):
                        theirs.note(regime, f"at such sizes run or regime had to guess {guessed[0]}")
                    elif fits and theirs.hold(regime, trace, its.recipe.calls_as, values):
                        done.add(other)
                if place in done:
                    break

    def _drawn(
        self,
        entry: Again,
        one: StoredRegime,
        way: Way,
        dtype: torch.dtype,
        widths: Mapping[str, int],
        attempt: int,
    ) -> tuple[Trace, dict[str, int]] | None:
        """A run at sizes drawn for a regime, and these; the regime is told why there is none."""
        sizes = self.sizes_at(one, way, attempt, dtype)
        if sizes is None:
            entry.note(one, "no sizes were found that satisfy all conditions")
            return None
        # what only data decides is as routing has it where the regime does not name it, and has no one value
        sizes = {n: size for n, size in sizes.items() if n not in way.data or n in one.names}
        try:
            return measure(way.recipe, sizes, dtype, widths), {**sizes, **widths}
        except Exception as error:  # noqa: BLE001 - the module's own refusal of these sizes
            entry.note(one, first_line_kept(error))
            return None

    def sizes_at(
        self, one: StoredRegime, way: Way, attempt: int, dtype: torch.dtype
    ) -> Mapping[str, int] | None:
        """The sizes of an attempt in a number format: the same in each."""
        del dtype
        return self.sizes_for(one, way, attempt)

    def sizes_for(self, one: StoredRegime, way: Way, attempt: int) -> dict[str, int] | None:
        """Larger sizes at which all conditions hold; the later the attempt the fewer are larger."""
        given = (f"{{{name}}} == {side}" for name, side in one.images.items())
        every = (*map(Condition.parse, given), *one.conditions)
        conditions = [*way.asked.stated, *(c for c in every if c.symbols() <= way.hints.keys())]
        sizes = self._multiplied(way, conditions, attempt >= INPUTS_ALONE) if attempt >= MOST_STAY else None
        if sizes is None:
            share = 1.0 if attempt < ALL_LARGE else 1.0 - (attempt - ALL_LARGE) / (TRIES - ALL_LARGE) * 0.5
            scale = {name: self.scale for name in way.hints if self.rng.random() <= share}
            sizes = draw(way.hints, conditions, self.rng, attempts=12, scale=scale)
        return sizes

    def _multiplied(
        self, way: Way, conditions: Sequence[Condition], inputs_alone: bool
    ) -> dict[str, int] | None:
        """Some sizes so many times as large as the model has them, the others as they are there.

        A class does not know what its model asks of sizes, such as groups that divide channels: the model's
        own sizes fit each other, and so do many multiples of them. A batch fits any model.
        """
        share = 0.7 if inputs_alone else self.rng.choice((0.5, 0.3, 0.15))
        held = {name for c in conditions if c.op == "==" and len(c.symbols()) == 1 for name in c.symbols()}
        open_to = (way.inputs if inputs_alone else way.hints.keys()) - held
        sizes = {
            name: hint * self.scale if name in open_to and hint > 1 and self.rng.random() <= share else hint
            for name, hint in way.hints.items()
        }
        return sizes if all(c.is_met(sizes) for c in conditions) else None

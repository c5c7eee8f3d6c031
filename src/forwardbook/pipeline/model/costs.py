"""A whole model and its config in; out its formulas for each phase, proved at random sizes of a call."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch

from forwardbook.analyzers.instances.pretrained.whole import Filling, Phase
from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.symbolic.assume import Assumed, informative
from forwardbook.analyzers.symbolic.loops import POINTS as LOOP_POINTS
from forwardbook.analyzers.symbolic.of_data import OutOfRange
from forwardbook.analyzers.symbolic.patterns import Pattern, find_call, patterns
from forwardbook.analyzers.symbolic.rising import MAX_DEGREE
from forwardbook.analyzers.symbolic.run import (
    SYMBOLIC_WIDTHS,
    SymbolicRun,
    first_that_runs,
    run_symbolically,
)
from forwardbook.analyzers.symbolic.summary import short_file, summarise
from forwardbook.formula import Condition, Expr
from forwardbook.models.record import CostPoint, CostProof, PhaseCosts, tells_width
from forwardbook.pipeline.derivation.derived import pins
from forwardbook.pipeline.model.layers import Node, interpolated, layer_tree
from forwardbook.pipeline.model.masks import Shapes, shapes_of
from forwardbook.pipeline.model.rounds import FEWEST, ROUNDS, in_expression, rounds_of, sizes_by_rounds
from forwardbook.pipeline.model.source import HangsOnData, ModelRefused, NoPolynomial
from forwardbook.profiling.proof import compare, measure, widths_of
from forwardbook.profiling.raised import first_line_kept
from forwardbook.profiling.sizes import draw
from forwardbook.saying import MASKED
from forwardbook.schema import Parameter, Unresolved

POINTS = 3
REACH = 8  # proof points reach this many times beyond the hints: a run on meta costs the same
TRIES = 12


def phase_costs(
    phase: Phase,
    dtype: torch.dtype,
    seed: int,
    hints: Mapping[str, int] | None = None,
    pinned: Mapping[str, int] | None = None,
    balanced: bool = False,
) -> PhaseCosts:
    """The formulas of one phase and the conditions under which they hold, proved.

    Sizes of `pinned` are that number throughout; the others are near their `hints` where the model is read.
    Where it is `balanced`, what data decides is what balanced routing makes of it, which is an assumption.

    Raises:
        NoPolynomial: where a size became a number, and costs are not one polynomial in it.
        HangsOnData: where data decides a size, and nobody knows what balanced routing makes of it.
        ModelRefused: where the model does not run, or no proof was reached.
    """
    fixed = dict(pinned or {})
    recipe, run = _first_run(phase, dtype, hints, fixed, balanced)
    whole = patterns(run, recipe.calls_as)[-1]
    _refuse_data(phase, run, whole if balanced else None)
    _refuse_fixed_width(phase, run, whole)
    shapes = shapes_of(phase, dtype)
    derivation = _Derivation(phase, recipe, dtype, run, whole, _tree(run, whole, shapes), fixed, shapes)
    derivation.interpolate(hints)
    conditions = derivation.relaxed()
    points, differences = derivation.proved(conditions, random.Random(seed))
    if differences and (fitted := [*derivation.interpolated, *derivation.by_rounds]):
        name = fitted[0]
        raise NoPolynomial(
            name, f"{recipe.target} ({phase.name}): not one polynomial in {name}: {differences[0]}"
        )
    told = [Condition.that_is(n, v) for n, v in fixed.items()]
    return PhaseCosts(
        phase="decode" if phase.name == "decode" else "prefill",
        conditions=[c.text() for c in (*told, *conditions, derivation.width())],
        parameters=[Parameter(name=n.name, meaning=n.meaning, source=n.source) for n in run.notes.values()],
        assumptions=list(whole.assumptions),
        unresolved=list(_unresolved(whole)),
        cache=derivation.cache.text(),
        model=derivation.tree.record(),
        proof=CostProof(
            verdict="wrong" if differences else "exact",
            dtype=str(dtype).removeprefix("torch."),
            points=points,
            differences=differences,
        ),
    )


def _refuse_data(phase: Phase, run: SymbolicRun, balanced: Pattern | None) -> None:
    """Costs of a model are numbers, and a size that only data decides has none before it runs on data."""
    said = [f"{n.name}: {n.meaning} ({n.source})" for n in run.notes.values() if n.is_of_data]
    if balanced is not None:  # there are no such sizes in it; what it had to guess is no routing
        said = [text for text in balanced.assumptions if text.startswith(MASKED)]
    if said:
        told = "\n  ".join(said)
        raise HangsOnData(
            [name for name, note in run.notes.items() if not note.is_of_data],
            f"{phase.recipe.target} ({phase.name}): what it costs hangs on data\n  {told}\n"
            "  its classes have formulas in these names: forwardbook analyze-module, forwardbook show",
        )


def _refuse_fixed_width(phase: Phase, run: SymbolicRun, whole: Pattern) -> None:
    """A formula of weights that are read names their width: else nobody could ask for another."""
    kinds = {one.dtype for one in run.root.parameters() if one.dtype.is_floating_point}
    if kinds and not tells_width(Expr.of(whole.summary.weights).text()):
        said = ", ".join(sorted(str(kind) for kind in kinds))
        raise ModelRefused(
            f"deriving {phase.recipe.target} ({phase.name}): its weights are {said} whatever type is asked "
            f"for, so that no formula names {SYMBOLIC_WIDTHS[0]}\n"
            "  build them in torch's default type: no dtype=, .to(), .half() where they are made"
        )


def _first_run(
    phase: Phase,
    dtype: torch.dtype,
    hints: Mapping[str, int] | None,
    pinned: Mapping[str, int],
    balanced: bool,
) -> tuple[Recipe, SymbolicRun]:
    """The run of the first way of making inputs that works, and the recipe with only that way."""

    def run(one: Recipe, balanced: bool = balanced) -> SymbolicRun:
        return run_symbolically(one, dtype, hints, pinned, balanced=balanced)

    try:
        return first_that_runs(phase.recipe, run)
    except OutOfRange as problem:  # calls before this one, which fill its cache, choose among more
        _, known = first_that_runs(phase.recipe, lambda one: run(one, balanced=True))
        told = f"{phase.recipe.target} ({phase.name}): what it costs hangs on data: {problem}"
        raise HangsOnData(list(known.notes), told) from problem
    except Exception as problem:  # analysed code may raise anything
        said = first_line_kept(problem)
        raise ModelRefused(f"running {phase.recipe.target} ({phase.name}): {said}") from problem


def _tree(run: SymbolicRun, whole: Pattern, shapes: Shapes) -> Node:
    call = find_call(run.trace, whole.path, whole.occurrence)
    if call is None:
        raise ModelRefused(f"the call of {whole.path or 'the model'} was not recorded")
    return layer_tree(run, call, shapes)


def _unresolved(whole: Pattern) -> Iterator[Unresolved]:
    for one in whole.unruled:
        yield Unresolved(file=short_file(one.file), line=one.line, operation=one.name, reason="no rule")


@dataclass
class _Derivation:
    phase: Phase
    recipe: Recipe
    dtype: torch.dtype
    run: SymbolicRun
    whole: Pattern
    tree: Node
    fixed: Mapping[str, int]
    shapes: Shapes

    def __post_init__(self) -> None:
        self.cache = _cache_bytes(self.phase.filling, self.run, self.dtype)
        self.conditions = list(Assumed(self.whole.conditions).pattern(self.whole).conditions)
        self.hints = {name: note.hint for name, note in self.run.notes.items()}
        self.interpolated: list[str] = []
        self.by_rounds: list[str] = []

    def interpolate(self, hints: Mapping[str, int] | None) -> None:
        """A size of the call that Python counted with becomes a symbol again, by exact interpolation."""
        consumed = {name for one in self.whole.consumed for name in one.symbols}
        for name in sorted(self.hints.keys() - self.fixed.keys()):
            if name not in consumed and not pins(self.conditions, name, self.hints):
                continue
            rounds = rounds_of(self.run, name)
            if rounds is None:
                hint = self.hints[name]
                self._fit(name, name, {n: {name: n} for n in range(hint, hint + LOOP_POINTS)}, hints)
                self.conditions = [c for c in self.conditions if name not in c.symbols()]
                self.interpolated.append(name)
            elif rounds.evaluate(self.hints) < FEWEST:
                self.conditions += [c for c in self.whole.numbers if c.symbols() == {name}]
            else:
                self._by_rounds(name, rounds, hints)

    def _by_rounds(self, name: str, rounds: Expr, hints: Mapping[str, int] | None) -> None:
        """A size that stays a symbol, though Python counted with an expression of it."""
        sizes = sizes_by_rounds(rounds, name, self.hints[name])
        if sizes is None:
            where = f"{self.recipe.target} ({self.phase.name})"
            raise NoPolynomial(name, f"{where}: {rounds.text()} became a number while it ran")
        self._fit(name, ROUNDS, {}, hints, {n: {name: size} for n, size in sizes.items()})
        self.tree, self.cache = in_expression(self.tree, rounds), self.cache.subs({ROUNDS: rounds})
        seen = [{**self.hints, name: size} for size in sizes.values()]
        self.conditions = [
            c for c in self.conditions if name not in c.symbols() or all(c.is_met(sizes) for sizes in seen)
        ]
        self.by_rounds.append(name)

    def _fit(
        self,
        name: str,
        symbol: str,
        pinned: Mapping[int, Mapping[str, int]],
        hints: Mapping[str, int] | None,
        near: Mapping[int, Mapping[str, int]] | None = None,
    ) -> None:
        """The tree and the cache, polynomials in a symbol: from runs at numbers of it, each with what is
        `pinned`, or `near` which its sizes are read."""
        trees: dict[int, Node] = {}
        caches: dict[int, Expr] = {}
        for value in near or pinned:
            around = {**(hints or {}), **(near or {}).get(value, {})}
            fixed = {**self.fixed, **pinned.get(value, {})}
            run = run_symbolically(self.recipe, self.dtype, around, fixed)
            trees[value] = _tree(run, patterns(run, self.recipe.calls_as)[-1], self.shapes)
            caches[value] = _cache_bytes(self.phase.filling, run, self.dtype)
        cache = Expr.interpolate(symbol, caches, MAX_DEGREE)
        tree = interpolated(symbol, trees)
        if tree is None or cache is None:
            raise NoPolynomial(
                name,
                f"{self.recipe.target} ({self.phase.name}): {name} became a number while it ran, and its "
                f"costs from {self.hints[name]} on are no polynomial in it",
            )
        self.tree, self.cache = tree, cache

    def floors(self) -> Iterator[Condition]:
        """From where on formulas hold that were interpolated: runs at each size below tell, down to the first
        that counts otherwise, such as a peak that comes about elsewhere in short sequences."""
        for name in self.interpolated:
            lowest = self.hints[name]
            while lowest > 2 and self.holds_at({**self.hints, name: lowest - 1}):
                lowest -= 1
            if lowest > 2:
                yield Condition.at_least(name, lowest)

    def width(self) -> Condition:
        """The formulas hold for activations of 4 bytes, for wider or narrower ones, as they were derived."""
        sign = {torch.float32: "==", torch.float64: ">"}.get(self.dtype, "<")
        return Condition(Expr.symbol("a_dtype_bytes"), sign, Expr.const(4))

    def relaxed(self) -> list[Condition]:
        """The conditions that matter: those that a run with a size of 1 does not refute are dropped."""
        essential = list(informative(self.conditions, self.conditions))
        bounds = {c.text(): c for c in essential}
        floors = list(self.floors())
        settled = self.fixed.keys() | {name for c in floors for name in c.symbols()}
        for name in self.hints.keys() - settled:
            bounds.setdefault(f"{{{name}}} > 1", Condition(Expr.symbol(name), ">", Expr.const(1)))
        for ones in _ones({n: h for n, h in self.hints.items() if n not in settled}):
            sizes = {**self.hints, **ones}
            broken = [c for c in bounds.values() if not c.holds(sizes)]
            if broken and self.holds_at(sizes):
                bounds = {text: c for text, c in bounds.items() if c not in broken}
        return [*floors, *(c for c in bounds.values() if not c.is_trivially_true())]

    def holds_at(self, sizes: Mapping[str, int]) -> bool:
        """Whether every formula of the tree gives what a run at these sizes counts."""
        try:
            return not self.point(sizes)[1]
        except Exception:  # noqa: BLE001 - the model refuses these sizes: its own condition
            return False

    def proved(
        self, conditions: Sequence[Condition], rng: random.Random
    ) -> tuple[list[CostPoint], list[str]]:
        """Random sizes within the conditions, all formulas held against a run at each."""
        points: list[CostPoint] = []
        differences: list[str] = []
        reason = "no random sizes satisfy the conditions"
        wanted = POINTS if self.hints.keys() - self.fixed.keys() else 1  # all runs would be one
        far = {name: hint * REACH if hint > 1 else hint for name, hint in self.hints.items()}
        for attempt in range(TRIES):
            sizes = draw(far if attempt < TRIES // 2 else self.hints, conditions, rng, self.fixed)
            if sizes is None:
                continue
            try:
                point, wrong = self.point(sizes)
            except Exception as error:  # noqa: BLE001 - the model refuses these sizes
                reason = first_line_kept(error)
                continue
            points.append(point)
            differences += wrong
            if len(points) == wanted:
                return points, differences
        raise ModelRefused(
            f"proving {self.recipe.target} ({self.phase.name}): only {len(points)} of {wanted} runs: {reason}"
        )

    def point(self, sizes: Mapping[str, int]) -> tuple[CostPoint, list[str]]:
        """The whole and every distinct layer at these sizes: predicted, counted, and where they differ."""
        widths = widths_of(self.dtype)
        trace = measure(self.recipe, sizes, self.dtype, widths)
        numbers = {**sizes, **widths}
        wrong: list[str] = []
        nodes = self.tree.walk()
        first = None
        for node in nodes:
            call = find_call(trace, node.call.path, node.occurrence)
            if call is None:
                wrong.append(f"{node.call.path} was not called at {dict(sizes)}")
                continue
            point = compare(node.summary, summarise(trace, call, {}), numbers)
            first = first or point
            where = node.call.path or "the model"
            wrong += [
                f"{where}: {d.quantity} of {d.where} predicted {d.predicted}, counted {d.measured} at {sizes}"
                for d in point.differences
            ]
        held, said = _held_bytes(self.phase.filling, self.dtype), self.cache.evaluate(numbers)
        if held != said:
            wrong.append(f"the cache holds {held} bytes, predicted {said} at {dict(sizes)}")
        assert first is not None
        predicted, counted = {**first.predicted, "cache": said}, {**first.measured, "cache": held}
        return CostPoint(sizes=dict(sizes), predicted=predicted, measured=counted, layers=len(nodes)), wrong


def _ones(hints: Mapping[str, int]) -> list[dict[str, int]]:
    """Each size alone at 1, then all of them."""
    names = [name for name, hint in hints.items() if hint > 1]
    alone = [{name: 1} for name in names]
    return [*alone, dict.fromkeys(names, 1)] if len(names) > 1 else alone


def _cache_bytes(filling: Filling, run: SymbolicRun, dtype: torch.dtype) -> Expr:
    """Bytes that the cache held before the call."""
    total = Expr.const(0)
    width = Expr.symbol(SYMBOLIC_WIDTHS[2])
    for shape, kind in filling.tensors:
        size = width if kind == dtype else Expr.const(kind.itemsize)
        for one in shape:
            size = size * (run.expressions.of(one) if isinstance(one, torch.SymInt) else one)
        total = total + size
    return total


def _held_bytes(filling: Filling, dtype: torch.dtype) -> int:
    """Bytes in the cache of the last measured run."""
    return sum(torch.Size(shape).numel() * kind.itemsize for shape, kind in filling.tensors)

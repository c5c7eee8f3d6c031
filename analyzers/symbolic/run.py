"""Runs a recipe once under the recorder: symbolically (concolic sizes) or measured (integers)."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from types import FrameType
from typing import Protocol

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from forwardbook.analyzers.instances.casting import casting_on_meta
from forwardbook.analyzers.instances.recipe import Recipe, Sizes
from forwardbook.analyzers.symbolic.bridges import (
    distributions_unchecked,
    no_initialisation,
    symbols_written,
    teach_torch,
)
from forwardbook.analyzers.symbolic.caches import caches_apart, loaded
from forwardbook.analyzers.symbolic.expressions import Expressions
from forwardbook.analyzers.symbolic.followed import followed_since, numbers_followed
from forwardbook.analyzers.symbolic.fused import FusedOperations
from forwardbook.analyzers.symbolic.host import weights_of_host
from forwardbook.analyzers.symbolic.kernels import native_shapes
from forwardbook.analyzers.symbolic.ledger import Guard, Ledger, number_of
from forwardbook.analyzers.symbolic.memory import Memory
from forwardbook.analyzers.symbolic.node import Node
from forwardbook.analyzers.symbolic.number_types import types_of_numbers
from forwardbook.analyzers.symbolic.of_data import OF_DATA, DataSizes
from forwardbook.analyzers.symbolic.of_weights import mark
from forwardbook.analyzers.symbolic.pairing import pairs_noted, say, second_run, shifts
from forwardbook.analyzers.symbolic.recorder import Recorder, Widths
from forwardbook.analyzers.symbolic.shadows import LIMIT, carry
from forwardbook.analyzers.symbolic.told import noted
from forwardbook.analyzers.symbolic.trace import Place, Trace
from forwardbook.analyzers.symbolic.uniform import full_of
from forwardbook.analyzers.symbolic.values import Values
from forwardbook.formula import Expr


@dataclass(frozen=True, slots=True)
class SizeNote:
    """What a recipe said of a size it asked for."""

    name: str
    hint: int
    meaning: str
    source: str

    @property
    def is_of_data(self) -> bool:
        """Whether only data decides it."""
        return self.source.startswith(OF_DATA)


class SymbolicSizes:
    """Answers every size with its symbol, or with a number where it is pinned."""

    def __init__(self, ledger: Ledger, hints: Mapping[str, int], pinned: Mapping[str, int]) -> None:
        self.ledger, self.given, self.pinned = ledger, hints, pinned
        self.notes: dict[str, SizeNote] = {}

    def __call__(self, name: str, hint: int, meaning: str = "", source: str = "") -> int:
        value = self.pinned.get(name, self.given.get(name, number_of(hint)))
        self.notes.setdefault(name, SizeNote(name, value, meaning, source))
        if name in self.pinned:
            return self.pinned[name]
        return self.ledger.symbol(name, value)  # type: ignore[return-value]


class MetaMaker:
    """Inputs on the meta device; integers and masks carry their values."""

    def floats(self, shape: Sequence[int], dtype: torch.dtype | None = None) -> torch.Tensor:
        return torch.empty(tuple(shape), dtype=dtype, device="meta")

    def _with(self, shape: Sequence[int], value: torch.Tensor) -> torch.Tensor:
        return carry(torch.empty(tuple(shape), dtype=value.dtype, device="meta"), value)

    def _numbers(self, shape: Sequence[int]) -> tuple[int, ...]:
        return tuple(number_of(s) for s in shape)

    def integers(self, shape: Sequence[int], high: int, low: int = 0) -> torch.Tensor:
        numbers = self._numbers(shape)
        low, high = self._numbers((low, high))
        count = torch.arange(torch.Size(numbers).numel(), device="cpu") % max(high - low, 1) + low
        return self._with(shape, count.reshape(numbers))

    def ones(self, shape: Sequence[int], dtype: torch.dtype | None = None) -> torch.Tensor:
        if torch.Size(self._numbers(shape)).numel() > LIMIT:
            return full_of(self.floats(shape, dtype), 1)
        return self._with(shape, torch.ones(self._numbers(shape), dtype=dtype, device="cpu"))

    def full(self, shape: Sequence[int], value: int) -> torch.Tensor:
        filled = torch.full(self._numbers(shape), number_of(value), dtype=torch.int64, device="cpu")
        return self._with(shape, filled)

    def made_up(self, tensor: torch.Tensor) -> torch.Tensor:
        mark([tensor])
        return tensor


class _Construction(TorchDispatchMode):
    """While a module is built: buffers computed from small integers carry their values."""

    def __init__(self, values: Values) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.values = values

    def __torch_dispatch__(
        self, func: torch._ops.OpOverload, types: object, args: tuple[object, ...] = (), kwargs: object = None
    ) -> object:
        return self.values.run(func, args, dict(kwargs or {}))  # type: ignore[call-overload]


class SourcePlaces(Protocol):
    """Tells where interpreted code is: no frame of Python's own stands for it."""

    def segment(self, frame: FrameType | None) -> tuple[Place, ...]:
        """The places up to the innermost module call, outermost first."""
        ...

    def constructing(self, frame: FrameType | None) -> tuple[int, ...]:
        """Identities of the modules whose `__init__` runs, innermost first."""
        ...

    def asking(self, frame: FrameType | None) -> tuple[str, int]:
        """The file and line that need a number."""
        ...


def _built(
    recipe: Recipe, sizes: Sizes, values: Values, recorder: Recorder
) -> tuple[torch.nn.Module, tuple[object, ...], dict[str, object]]:
    """The module of a recipe and what it is called with, on meta; what Python writes out keeps its values."""
    with (
        FusedOperations(values.symbolic),
        torch.device("meta"),
        no_initialisation(),
        _Construction(values),
    ):
        with noted() as recorder.told:
            root = recipe.build(sizes).eval()
        _on_meta(root)
        return root, *recipe.inputs(sizes, root, MetaMaker())


def _on_meta(root: torch.nn.Module) -> None:
    """Moves the weights there that a constructor made elsewhere: `torch.normal` asks no device context."""
    moved: dict[int, torch.nn.Parameter] = {}  # one that several modules share stays one
    for module in root.modules():
        for name, weight in module._parameters.items():
            if weight is None or torch.nn.parameter.is_lazy(weight) or weight.is_meta:
                continue
            if id(weight) not in moved:
                moved[id(weight)] = torch.nn.Parameter(weight.detach().to("meta"), requires_grad=False)
            module._parameters[name] = moved[id(weight)]


@dataclass(frozen=True)
class SymbolicRun:
    """One symbolic run of a recipe and all that is known about its symbols."""

    trace: Trace
    ledger: Ledger
    expressions: Expressions
    root: torch.nn.Module
    notes: dict[str, SizeNote]
    within: tuple[Node, ...] = ()
    """That sizes which data decides are at most as large as what they count in."""

    def over(self, recipe: Recipe) -> Recipe:
        """The recipe, with the ranges of sizes that data decides among what it asks of sizes."""
        ranges = self.expressions.conditions(Guard(node, True, ()) for node in self.within)
        return replace(recipe, conditions=(*recipe.conditions, *(one.text() for one in ranges)))


@contextmanager
def default_dtype(dtype: torch.dtype) -> Iterator[None]:
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


@contextmanager
def _no_collection() -> Iterator[None]:
    """Inside, what only the garbage collector would free lives on: no peak depends on when it came."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


def _on_any_device() -> tuple[AbstractContextManager[None], ...]:
    """What a run on meta needs, with symbols or numbers."""
    return casting_on_meta(), distributions_unchecked()


SYMBOLIC_WIDTHS = ("w_dtype_bytes", "a_dtype_bytes", "kv_dtype_bytes")


def run_symbolically(
    recipe: Recipe,
    dtype: torch.dtype = torch.float32,
    hints: Mapping[str, int] | None = None,
    pinned: Mapping[str, int] | None = None,
    places: SourcePlaces | None = None,
    balanced: bool = False,
) -> SymbolicRun:
    """One run with every size symbolic, those of `pinned` apart; `places` where code is interpreted.

    Where it is `balanced` what only data decides has no sizes: it is what balanced routing makes of it.
    Where a module that the run itself imported asked for a number, there is a second run that follows it; and
    one with other counts where these tell how long lists are.
    """
    before = loaded()
    run = _run_once(recipe, dtype, hints, pinned, places, balanced)
    if places is not None:
        return run
    if before != loaded() and {one.file for one in run.ledger.consumed} & followed_since(before[0]):
        run = _run_once(recipe, dtype, hints, pinned, places, balanced)
    if run.ledger.pairs:
        more, known = shifts(run.ledger), run.ledger.hints
        larger = {**(hints or {}), **{name: known[name] + shift for name, shift in more.items()}}
        say(run.ledger, _twin(recipe, dtype, larger, pinned, balanced) if more else None, more)
    return run


def _twin(
    recipe: Recipe,
    dtype: torch.dtype,
    hints: Mapping[str, int],
    pinned: Mapping[str, int] | None,
    balanced: bool,
) -> Ledger | None:
    """The ledger of a run with other sizes; None where the module refuses them."""
    try:
        with second_run():
            return _run_once(recipe, dtype, hints, pinned, None, balanced).ledger
    except Exception:  # noqa: BLE001 - analysed code may raise anything at sizes of our own choice
        return None


def _run_once(
    recipe: Recipe,
    dtype: torch.dtype,
    hints: Mapping[str, int] | None,
    pinned: Mapping[str, int] | None,
    places: SourcePlaces | None,
    balanced: bool,
) -> SymbolicRun:
    native_shapes()
    ledger = Ledger()
    expressions = Expressions(ledger)
    sizes = SymbolicSizes(ledger, hints or {}, pinned or {})
    values = Values(symbolic=True, data=DataSizes(None if balanced else sizes))
    recorder = Recorder(Widths(*map(Expr.symbol, SYMBOLIC_WIDTHS)), dtype, values, ledger, expressions)
    if places is not None:
        recorder.places = values.data.places = places.segment
        ledger.constructing, ledger.asking = places.constructing, places.asking
    teach_torch()
    followed = (numbers_followed(), types_of_numbers(), pairs_noted(ledger))
    bridged = (*followed, caches_apart(), symbols_written(), *_on_any_device())
    with ExitStack() as stack, default_dtype(dtype), torch.no_grad():
        for one in bridged:
            stack.enter_context(one)
        root, args, kwargs = _built(recipe, sizes, values, recorder)
        ledger.running = True
        values.memory = Memory(ledger)
        stack.enter_context(weights_of_host())
        with _no_collection(), FusedOperations(symbolic=True), recorder.watching(root):
            root(*args, **kwargs)
    values.data.finish()
    within = tuple(values.data.within)
    return SymbolicRun(recorder.trace, ledger, expressions, root, sizes.notes, within)


def first_that_runs(recipe: Recipe, run: Callable[[Recipe], SymbolicRun]) -> tuple[Recipe, SymbolicRun]:
    """The recipe with only the first of its ways of making inputs that works, and the run with that.

    Raises:
        Exception: what the first way raised, where none works.
    """
    problem: Exception | None = None
    for inputs in (recipe.inputs, *recipe.alternatives):
        one = replace(recipe, inputs=inputs, alternatives=())
        try:
            done = run(one)
            return done.over(one), done
        except Exception as error:  # noqa: BLE001 - analysed code may raise anything; the first reason is told
            problem = problem or error
    assert problem is not None
    raise problem


class NumberSizes:
    """Answers every size with a chosen number, else with its hint."""

    def __init__(self, chosen: Mapping[str, int]) -> None:
        self.chosen = chosen

    def __call__(self, name: str, hint: int, meaning: str = "", source: str = "") -> int:
        return self.chosen.get(name, hint)

    def of_data(self) -> DataSizes:
        """The sizes that only data decides: those that were chosen, the others as they come."""
        return DataSizes(self, told=self.chosen)


def run_measured(
    recipe: Recipe, sizes: Mapping[str, int], dtype: torch.dtype, widths: Widths
) -> tuple[Trace, torch.nn.Module]:
    """The same recipe at plain integers, on the meta device, under the same recorder."""
    native_shapes()
    chosen = NumberSizes(sizes)
    values = Values(symbolic=False, data=chosen.of_data())
    recorder = Recorder(widths, dtype, values)
    with ExitStack() as stack, caches_apart(), default_dtype(dtype), torch.no_grad():
        for one in _on_any_device():
            stack.enter_context(one)
        root, args, kwargs = _built(recipe, chosen, values, recorder)
        stack.enter_context(weights_of_host())
        with _no_collection(), FusedOperations(symbolic=False), recorder.watching(root):
            root(*args, **kwargs)
    values.data.finish()
    recorder.trace.data = values.data.chosen
    return recorder.trace, root

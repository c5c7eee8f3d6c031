"""A case in; what derivation, measurement and static reading say each of its lines costs out."""

from __future__ import annotations

import ast
import functools
import importlib.util
import random
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import FrameType, ModuleType
from typing import Any

import torch
from annotated import QUANTITIES, Annotation, Case, expression
from torch.utils._python_dispatch import TorchDispatchMode

from forwardbook.analyzers.instances.recipe import InputMaker, Inputs, Recipe, Sizes
from forwardbook.analyzers.ops import Size
from forwardbook.analyzers.reader.sources import Sources
from forwardbook.analyzers.static import ClassSource, Interpreter, current_frames
from forwardbook.analyzers.static.run import guarded, interpreted_class
from forwardbook.analyzers.symbolic.bridges import no_initialisation
from forwardbook.analyzers.symbolic.fused import FusedOperations
from forwardbook.analyzers.symbolic.patterns import find_call
from forwardbook.analyzers.symbolic.places import is_plumbing
from forwardbook.analyzers.symbolic.recorder import Recorder, Widths
from forwardbook.analyzers.symbolic.run import (
    MetaMaker,
    NumberSizes,
    _Construction,
    default_dtype,
    run_measured,
)
from forwardbook.analyzers.symbolic.summary import Summary, summarise
from forwardbook.analyzers.symbolic.trace import CallRecord, Place, Trace
from forwardbook.analyzers.symbolic.values import Values
from forwardbook.cost import Cost
from forwardbook.formula import Condition, Expr
from forwardbook.pipeline.derivation.derived import Derived
from forwardbook.pipeline.derivation.regimes import derive
from forwardbook.profiling.sizes import draw

PACKAGE = "annotated_forwards"
# No two widths are equal and none is that of a real dtype, so that none stands in for another.
NUMBERS = {"w_dtype_bytes": 3, "a_dtype_bytes": 5, "kv_dtype_bytes": 7}


@functools.cache
def _loaded(name: str, path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"{PACKAGE}.{name}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def module_of(case: Case) -> ModuleType:
    """The file, imported."""
    return _loaded(case.name, str(case.path))


def full_name(case: Case) -> str:
    """The dotted name of the annotated class."""
    return f"{PACKAGE}.{case.name}.{case.target}"


def dtype_of(case: Case) -> torch.dtype:
    """The dtype of weights and activations."""
    dtype = getattr(torch, case.value("dtype", "float32"))
    assert isinstance(dtype, torch.dtype)
    return dtype


def recipe_of(case: Case) -> Recipe:
    """How the header says to build and call the module."""

    classes = vars(module_of(case))  # loaded here: a run lends its integers to what is loaded before it

    def build(sizes: Sizes) -> torch.nn.Module:
        return constructed(case, sizes, classes)

    def inputs(sizes: Sizes, module: torch.nn.Module, maker: InputMaker) -> Inputs:
        return fed(case, sizes, maker, classes)

    where = tuple(condition_text(case, text) for text in case.values("where"))
    return Recipe(full_name(case), "tests", build, inputs, conditions=where)


def condition_text(case: Case, text: str) -> str:
    """A condition in short names, in full ones."""
    for op in ("==", "!=", "<=", ">=", "<", ">"):
        if op in text:
            left, right = text.split(op)
            return Condition(expression(left, case.names), op, expression(right, case.names)).text()
    raise ValueError(f"{case.path.name}: {text!r} compares nothing")


def _environment(case: Case, sizes: Sizes, classes: Mapping[str, object]) -> dict[str, object]:
    known: dict[str, object] = dict(classes)
    known |= {short: sizes(full, hint) for short, (full, hint) in case.sizes.items()}
    return known


def constructed(case: Case, sizes: Sizes, classes: Mapping[str, object]) -> torch.nn.Module:
    """The module, made from the arguments after `# init:`; in training mode where the header says so."""
    module = eval(f"{case.root}({case.value('init')})", _environment(case, sizes, classes))
    assert isinstance(module, torch.nn.Module)
    if case.value("mode") == "train":
        module.eval = lambda: module.train()  # type: ignore[method-assign]
    return module.eval()


def fed(case: Case, sizes: Sizes, maker: InputMaker, classes: Mapping[str, object]) -> Inputs:
    """The arguments of the call: a list of sizes is a tensor of floats, everything else an expression."""
    known = _environment(case, sizes, classes) | {
        "floats": lambda *shape, dtype=None: maker.floats(shape, dtype),
        "ints": lambda high, *shape: maker.integers(shape, high),
        "ones": lambda *shape, dtype=None: maker.ones(shape, dtype),
        "full": lambda value, *shape: maker.full(shape, value),
        "torch": torch,
    }
    given = {}
    for name, text in case.header.get("input", []):
        value = eval(text, known)
        plain = isinstance(value, tuple) and all(isinstance(v, int | torch.SymInt) for v in value)
        given[name] = maker.floats(value) if plain else value
    return (), given


@functools.cache
def _derived(name: str) -> tuple[Derived, ...]:
    case = CASES_BY_NAME[name]
    return tuple(derive(recipe_of(case), dtype_of(case), [full_name(case)], seed=1))


CASES_BY_NAME: dict[str, Case] = {}


def derived(case: Case) -> tuple[Derived, ...]:
    """Every call pattern of the annotated class, derived and proved."""
    CASES_BY_NAME[case.name] = case
    return _derived(case.name)


def measured(case: Case, seed: int) -> tuple[dict[str, int], list[Summary]]:
    """Random sizes that meet all conditions, and what each call pattern costs there."""
    patterns = [one.pattern for one in derived(case)]
    recipe = recipe_of(case)
    hints = dict(case.sizes.values())
    conditions = [Condition.parse(text) for text in recipe.conditions]
    conditions += [c for p in patterns for c in p.conditions if c.symbols() <= set(hints)]
    sizes = draw(hints, conditions, random.Random(seed))
    assert sizes is not None, f"{case.path.name}: no sizes satisfy {[c.text() for c in conditions]}"
    trace, _ = run_measured(recipe, sizes, dtype_of(case), Widths(*NUMBERS.values()))
    calls = [calls_at(trace, p.path, p.occurrence) for p in patterns]
    sizes |= NUMBERS
    return sizes, [summarise(trace, call, sizes) for call in calls]


def calls_at(trace: Trace, path: str, occurrence: int) -> CallRecord:
    """The call of a pattern in another run."""
    call = find_call(trace, path, occurrence)
    assert call is not None
    return call


class StaticRecorder(Recorder):
    """Takes places from the interpreter, whose calls are no frames of Python's own."""

    def __init__(self, case: Case, sizes: Mapping[str, int]) -> None:
        data = NumberSizes(sizes).of_data()
        super().__init__(Widths(*NUMBERS.values()), dtype_of(case), Values(symbolic=False, data=data))
        self.entry = case.value("executed")
        self.depths: dict[int, int] = {}
        self.places = data.places = self._interpreted

    def enter(self, module: torch.nn.Module, *rest: Any) -> CallRecord:
        call = super().enter(module, *rest)
        self.depths[call.index] = len(current_frames())
        return call

    def _interpreted(self, frame: FrameType | None) -> tuple[Place, ...]:
        running = current_frames()
        if self._stack:
            running = running[self.depths[self._stack[-1]] :]
            kind = type(self.trace.calls[self._stack[-1]].module).__qualname__
            name = self.entry or f"{kind}.forward"  # which a wrapper may bear too: the innermost is meant
            running = running[max((i for i, f in enumerate(running) if f.qualname == name), default=0) :]
        places = (Place(f.file, f.qualname, f.line, f.end_line, f.col, f.end_col) for f in running)
        return tuple(one for one in places if not is_plumbing(one.file))


def interpreted(case: Case, sizes: Mapping[str, int]) -> list[Summary]:
    """What each call pattern costs at these sizes where the file is interpreted and never imported.

    Raises:
        Unresolved: the interpreter does not follow something in the file.
    """
    interpreter = Interpreter(Sources())
    names = [node.name for node in case.tree.body if isinstance(node, ast.ClassDef)]
    recorder = StaticRecorder(case, sizes)
    values = recorder.values
    assert values is not None
    with torch.no_grad(), default_dtype(dtype_of(case)):
        with torch.device("meta"), no_initialisation(), _Construction(values):
            classes = {n: interpreted_class(ClassSource(n, case.path), interpreter)[0] for n in names}
            root = guarded("construction", lambda: constructed(case, NumberSizes(sizes), classes))
            _, given = fed(case, NumberSizes(sizes), MetaMaker(), classes)
        with FusedOperations(symbolic=False), recorder.watching(root):
            guarded("forward()", lambda: root(**given))
    trace = recorder.trace
    calls = [calls_at(trace, one.pattern.path, one.pattern.occurrence) for one in derived(case)]
    return [summarise(trace, call, sizes) for call in calls]


class _Names(TorchDispatchMode):
    """Writes down the operations that ordinary torch runs."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.found.append(func._schema.name.replace("::", "."))
        return func(*args, **(kwargs or {}))


def names_of_operations(module: torch.nn.Module, given: Mapping[str, object]) -> list[str]:
    """The operations of a call on the CPU."""
    with torch.no_grad(), _Names() as names:
        module(**given)
    return names.found


@dataclass(frozen=True)
class Disagreement:
    """One quantity of one line (0: the whole call): what the file says and what was found."""

    line: int
    quantity: str
    stated: object
    found: object


def disagreements(
    case: Case, call: str, summary: Summary, number: Callable[[Size], object]
) -> list[Disagreement]:
    """Where the comments and a summary differ; `number` makes both sides comparable."""
    spoken = [a for a in case.annotations if a.call in ("", call)]
    found: list[Disagreement] = []
    held: dict[int, Cost] = {}
    for line in summary.lines:
        ends = case.end_of(line.key[1], line.key[2])
        mine = [i for i, a in enumerate(spoken) if line.key[0] == str(case.path) and _covers(a, ends)]
        place = mine[0] if mine else -1 - line.key[1]
        held[place] = held.get(place, Cost.zero()) + line.cost
    for index, annotation in enumerate(spoken):
        cost = held.pop(index, Cost.zero())
        for quantity in QUANTITIES.values():
            stated = number(annotation.costs.get(quantity, Expr.const(0)))
            real = number(getattr(cost, quantity))
            if stated != real:
                found.append(Disagreement(annotation.first, quantity, stated, real))
    for place, cost in held.items():
        for quantity in QUANTITIES.values():
            real = number(getattr(cost, quantity))
            if real != number(0):
                found.append(Disagreement(-1 - place, quantity, "no comment", real))
    quantities = summary.quantities()
    for quantity, stated_total in case.totals.items():
        if number(stated_total) != number(quantities[quantity]):
            found.append(Disagreement(0, quantity, number(stated_total), number(quantities[quantity])))
    return found


def _covers(annotation: Annotation, line: int) -> bool:
    return annotation.first <= line <= annotation.last


def as_polynomial(case: Case) -> Callable[[Size], object]:
    """A size, comparable as an expression under the divisions that the header says are exact."""
    whole: dict[str, Expr | int] = {}
    for text in case.values("where"):
        condition = Condition.parse(condition_text(case, text))
        name, by = text.partition("%")[0].strip(), text.partition("%")[2].partition("==")[0].strip()
        if condition.op == "==" and by and condition.right == Expr.const(0):
            full, _ = case.sizes[name]
            whole[full] = expression(by, case.names) * Expr.symbol(f"{full}.quotient")
    return lambda size: Expr.of(size).subs(whole)


def at(sizes: Mapping[str, int]) -> Callable[[Size], object]:
    """A size, comparable as the integer it is at these sizes."""
    return lambda size: size if isinstance(size, int) else Expr.of(size).evaluate(sizes)


def shown(found: Iterable[Disagreement]) -> str:
    """Disagreements, one a line."""
    return "\n".join(f"line {d.line}: {d.quantity} is stated as {d.stated}, found {d.found}" for d in found)

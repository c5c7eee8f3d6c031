"""Picks the calls of one class out of a symbolic run and groups them by equal costs: one formula for each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace

import torch

from forwardbook.analyzers.instances.recipe import full_name
from forwardbook.analyzers.symbolic.ledger import Consumption
from forwardbook.analyzers.symbolic.rounding import is_of_float
from forwardbook.analyzers.symbolic.run import SYMBOLIC_WIDTHS, SymbolicRun
from forwardbook.analyzers.symbolic.summary import Summary, executed, forward_code, marks_of, summarise
from forwardbook.analyzers.symbolic.told import apart
from forwardbook.analyzers.symbolic.trace import CallRecord, Trace, Unruled, general
from forwardbook.formula import Condition, Expr


@dataclass(frozen=True, slots=True)
class Consumed:
    """A size that Python needed as a plain number: its symbols, and the line that asked."""

    symbols: tuple[str, ...]
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class SubCall:
    """A submodule called directly: from which line, its path below the module, its class and its sizes."""

    line: int
    attribute: str
    class_name: str
    bindings: tuple[tuple[str, Expr], ...]


@dataclass(frozen=True, slots=True)
class Pattern:
    """One way in which the class is called: its costs and the conditions under which they hold."""

    summary: Summary
    paths: tuple[str, ...]
    occurrence: int
    conditions: tuple[Condition, ...]
    assumptions: tuple[str, ...]
    unruled: tuple[Unruled, ...]
    consumed: tuple[Consumed, ...]
    given: tuple[str, ...]
    """What its calls gave: of each that gave others, the parameters of forward() that had a value."""
    told: tuple[str, ...] = ()
    """What the constructors of all that were called were told: choices that are not the default."""
    kept: tuple[str, ...] = ()
    """What tells their modules from others in the same places of the run, as `layer_type=full_attention`."""
    floated: tuple[Consumed, ...] = ()
    """The same of sizes of which `float()` was asked."""
    numbers: tuple[Condition, ...] = ()
    """What became a number by the end of the call and is no size by itself: that it is that number.

    Sizes may vary and it does not: a side of 193 to 224 is 7 patches of 32.
    """
    own: tuple[Condition, ...] = ()
    """What the class asked itself, not the modules within: as it was asked, under no divisibility."""
    subcalls: tuple[SubCall, ...] = ()
    classes: tuple[str, ...] = ()
    """The classes of the modules that run within, at any depth."""
    steady: tuple[Condition, ...] = ()
    """Those of the conditions that keep numbers without a formula at what they are."""
    counts: frozenset[str] = frozenset()
    """The sizes that its constructor, its forward() or what only holds others for it needed as numbers."""
    before: frozenset[str] = frozenset()
    """The sizes that anything in the run had needed as numbers by the end of the call: what is handed to it
    may have the shape that so many layers before it gave."""
    others: tuple[tuple[str, int], ...] = ()
    """Further calls of these costs: the path of each, and which call of that module it is."""
    reads: tuple[Condition, ...] = ()
    """Under what conditions the plain numbers that Python took of sizes as floats are the run's."""
    around: tuple[Condition, ...] = ()
    """What anything in the run had asked by the end of the call, constructors of what holds the module among
    them: under these the run comes to the call, and its costs may hang on none of them."""

    @property
    def path(self) -> str:
        return self.paths[0]

    def symbols(self) -> frozenset[str]:
        """Every name that the costs or the conditions need."""
        return self.summary.symbols().union(*(condition.symbols() for condition in self.conditions))


def class_name(module: torch.nn.Module) -> str:
    """The full dotted name of the class of a module."""
    return full_name(type(module))


def calls_of(trace: Trace, target: str) -> list[CallRecord]:
    """The recorded calls of the class `target`, in order, those that raised apart."""
    return [c for c in trace.calls if class_name(c.module) == target and not c.failed]


def find_call(trace: Trace, path: str, occurrence: int) -> CallRecord | None:
    """The call number `occurrence` (from 0) of the module at `path`."""
    same = [c for c in trace.calls if c.path == path and not c.failed]
    return same[occurrence] if occurrence < len(same) else None


def hint_reader(run: SymbolicRun) -> dict[str, int]:
    """The number of every symbol of a run; widths as in fp32 weights and activations."""
    return {**run.ledger.hints, **dict.fromkeys(SYMBOLIC_WIDTHS, 4)}


def patterns(run: SymbolicRun, target: str) -> list[Pattern]:
    """The distinct call patterns of `target`, in the order in which they first ran."""
    groups = _grouped(run, target)
    found = [_pattern(run, calls) for calls in groups]
    every = [(general(call.path), call.module) for calls in groups for call, *_ in calls]
    return [replace(one, kept=_kept(calls, every)) for one, calls in zip(found, groups, strict=True)]


def _kept(group: list[_Found], every: list[tuple[str, torch.nn.Module]]) -> tuple[str, ...]:
    """What the modules of a group keep otherwise than modules of other groups in their places."""
    own = [call.module for call, *_ in group]
    places, mine = {general(call.path) for call, *_ in group}, {id(module) for module in own}
    others = [module for place, module in every if place in places and id(module) not in mine]
    return apart(own, others) if others else ()


def conditions_at(run: SymbolicRun, path: str, occurrence: int) -> tuple[Condition, ...] | None:
    """The conditions of one given call, without its costs; None where the run made no such call."""
    call = find_call(run.trace, path, occurrence)
    return tuple(_conditions(run, call, marks_of(run.trace, call))) if call else None


def summary_at(run: SymbolicRun, path: str, occurrence: int) -> Summary | None:
    """The quantities of one given call."""
    call = find_call(run.trace, path, occurrence)
    return _summary(run, call) if call else None


_Found = tuple[CallRecord, Summary, int]


def _summary(run: SymbolicRun, call: CallRecord) -> Summary:
    return summarise(run.trace, call, hint_reader(run))


def _grouped(run: SymbolicRun, target: str) -> list[list[_Found]]:
    seen: defaultdict[str, int] = defaultdict(int)
    groups: dict[object, list[_Found]] = {}
    for call in calls_of(run.trace, target):
        occurrence = seen[call.path]
        seen[call.path] += 1
        summary = _summary(run, call)
        bytes_held = (summary.weights, summary.boundary, summary.intermediates, summary.peaks)
        key = (summary.totals, bytes_held, tuple((line.key, line.cost) for line in summary.lines))
        groups.setdefault(key, []).append((call, summary, occurrence))
    return list(groups.values())


def _pattern(run: SymbolicRun, group: list[_Found]) -> Pattern:
    call, summary, occurrence = group[0]
    return Pattern(
        summary=summary,
        paths=tuple(dict.fromkeys(c.path for c, _, _ in group)),
        occurrence=occurrence,
        others=tuple((c.path, n) for c, _, n in group[1:]),
        conditions=tuple(_conditions(run, call, summary.marks)),
        assumptions=tuple(sorted({*run.trace.assumed, *_spelled(run, call)})),
        unruled=tuple(u for u in run.trace.unruled if call.index in run.trace.ancestors(u.call)),
        consumed=tuple(_consumed(run, call, real=False)),
        floated=tuple(_consumed(run, call, real=True)),
        numbers=tuple(_numbers(run, call)),
        own=tuple(_own(run, call)),
        given=tuple(dict.fromkeys(c.given for c, _, _ in group)),
        told=tuple(text for text in call.told if all(text in c.told for c, _, _ in group)),
        subcalls=tuple(_subcalls(run, call)),
        classes=tuple(_classes(run, call)),
        steady=tuple(run.expressions.all_steady()),
        counts=_counts(run, call),
        before=needed_before(run, call),
        reads=tuple(_reads(run, call)),
        around=asked_before(run, call),
    )


def _classes(run: SymbolicRun, call: CallRecord) -> Iterable[str]:
    inside = (c for c in run.trace.calls[call.index + 1 :] if call.index in run.trace.ancestors(c.index))
    return dict.fromkeys(class_name(c.module) for c in inside)


def _subcalls(run: SymbolicRun, call: CallRecord) -> Iterable[SubCall]:
    forward = forward_code(type(call.module))
    prefix = f"{call.path}." if call.path else ""
    for child in run.trace.calls[call.index + 1 :]:
        if child.parent != call.index:
            continue
        place, _ = executed(child.site, forward)
        sizes = {n: v for n, v in vars(child.module).items() if isinstance(v, torch.SymInt)}
        bindings = tuple((n, run.expressions.of(v)) for n, v in sorted(sizes.items()))
        yield SubCall(place.line, child.path.removeprefix(prefix), class_name(child.module), bindings)


def _conditions(run: SymbolicRun, call: CallRecord, marks: int) -> Iterable[Condition]:
    inside = {id(m) for m in call.module.modules()}
    guards = [g for g in run.ledger.guards if inside.intersection(g.owners)]
    guards += run.ledger.guards[slice(*call.guards)]
    nodes = dict.fromkeys(one.node for one in _asked(run, call) if not one.real)
    numbers = dict.fromkeys(c for node in nodes for c in run.expressions.needed(node))
    found = dict.fromkeys(c for c in run.expressions.marked(marks) if not c.is_trivially_true())
    found |= dict.fromkeys(run.expressions.conditions(guards))
    return found | dict.fromkeys(c for c in numbers if not c.is_trivially_true())


def _counts(run: SymbolicRun, call: CallRecord) -> frozenset[str]:
    calls = [one for one in run.trace.calls[call.index + 1 :] if call.index in run.trace.ancestors(one.index)]
    called = {id(one.module) for one in calls}
    holders = {id(call.module), *(id(m) for m in call.module.modules() if id(m) not in called)}
    within = [one.consumed for one in calls if one.parent == call.index]
    mine = [c for c in run.ledger.consumed if c.owners and c.owners[0] in holders]
    asked = (i for i in range(*call.consumed) if not any(start <= i < stop for start, stop in within))
    mine += [run.ledger.consumed[i] for i in asked]
    return frozenset().union(*(run.expressions.symbols(c.node) for c in mine if not c.real))


def asked_before(run: SymbolicRun, call: CallRecord) -> tuple[Condition, ...]:
    """What anything in a run had asked by the end of a call."""
    return tuple(run.expressions.conditions(run.ledger.guards[: call.guards[1]]))


def needed_before(run: SymbolicRun, call: CallRecord) -> frozenset[str]:
    """The sizes that anything in a run had needed as numbers by the end of a call."""
    asked = dict.fromkeys(c.node for c in run.ledger.consumed[: call.consumed[1]] if not c.real)
    return frozenset().union(*map(run.expressions.symbols, asked))


def _numbers(run: SymbolicRun, call: CallRecord) -> Iterable[Condition]:
    asked = (*_asked(run, call), *run.ledger.consumed[: call.consumed[0]])
    for node in dict.fromkeys(c.node for c in asked if c.node.pytype is int and c.node.op != "symbol"):
        size = run.expressions.of(node)
        if size.symbols():
            yield Condition(size, "==", Expr.const(int(node.number)))


def _reads(run: SymbolicRun, call: CallRecord) -> Iterable[Condition]:
    asked = (*_asked(run, call), *run.ledger.consumed[: call.consumed[0]])
    nodes = dict.fromkeys(one.node for one in asked if one.real or is_of_float(one.node))
    return dict.fromkeys(c for node in nodes for c in run.expressions.read(node))


def _own(run: SymbolicRun, call: CallRecord) -> Iterable[Condition]:
    """Conditions from its constructor and its forward(), without those from within the modules it calls."""
    within = [child.guards for child in run.trace.calls[call.index + 1 :] if child.parent == call.index]
    asked = range(*call.guards)
    mine = (i for i in asked if not any(start <= i < stop for start, stop in within))
    guards = [g for g in run.ledger.guards if g.owners[:1] == (id(call.module),)]
    return run.expressions.conditions([*guards, *(run.ledger.guards[i] for i in mine)])


def _asked(run: SymbolicRun, call: CallRecord) -> list[Consumption]:
    """The numbers that the constructors of a module and this call of it needed."""
    inside = {id(m) for m in call.module.modules()}
    return [
        *(c for c in run.ledger.consumed if inside.intersection(c.owners)),
        *run.ledger.consumed[slice(*call.consumed)],
    ]


def _spelled(run: SymbolicRun, call: CallRecord) -> Iterable[str]:
    """What is said of texts with a size that the constructors of a module or this call of it went on with."""
    inside = {id(m) for m in call.module.modules()}
    first, last = call.consumed
    for text, owners, after in run.ledger.spelled:
        if inside.intersection(owners) if owners else first <= after <= last and after > 0:
            yield text


def _consumed(run: SymbolicRun, call: CallRecord, *, real: bool) -> Iterable[Consumed]:
    found: dict[tuple[str, ...], Consumed] = {}
    for one in (one for one in _asked(run, call) if one.real is real):
        symbols = tuple(sorted(run.expressions.symbols(one.node)))
        if symbols:
            found.setdefault(symbols, Consumed(symbols, one.file, one.line))
    return found.values()

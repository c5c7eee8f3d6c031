"""Products that formulas say and those of a trace in; both side by side, by module if it names them, out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import gcd
from typing import Final

from forwardbook.pipeline.profile.compare import matcher
from forwardbook.profiling.trace_work import Place, WorkGroup, together

Key = tuple[bool, int]
EQUAL: Final = ("equal", "equal in sum")


@dataclass(frozen=True)
class Expected:
    """What modules are said to compute in one product: flops of one, how many in one forward, the formula."""

    names: tuple[str, ...]
    class_name: str
    kind: str
    flops: int
    times: int
    formula: str = ""


@dataclass(frozen=True)
class Link:
    """Products of equal flops: the modules said to run them, the calls that did, and the verdict.

    `summed` is where one formula stands for several products: those of experts in one module, or the two
    products of an attention that no fused kernel ran. `excuse` says why a product may be on one side alone.
    """

    flops: int
    expected: tuple[Expected, ...]
    found: tuple[WorkGroup, ...]
    repeats: int
    summed: bool = False
    excuse: str = ""

    @property
    def predicted(self) -> int:
        """Calls that the formulas say one trace of `repeats` forwards has."""
        return sum(one.times for one in self.expected) * self.repeats

    @property
    def said(self) -> int:
        """flops that the formulas say of all these calls."""
        return sum(one.flops * one.times for one in self.expected) * self.repeats

    @property
    def calls(self) -> int:
        """Calls in the trace."""
        return sum(group.calls for group in self.found)

    @property
    def total(self) -> int:
        """flops of these calls."""
        return sum(group.total for group in self.found)

    @property
    def verdict(self) -> str:
        """equal, equal in sum, different, not run (no such call), or not in the formulas."""
        if self.summed:
            return "equal in sum"
        if not self.found:
            return "not run"
        if not self.expected:
            return "not in the formulas"
        return "equal" if self.predicted == self.calls else "different"

    @property
    def accepted(self) -> bool:
        """Whether both sides are equal, or a reason is known for which they need not be."""
        return self.verdict in EQUAL or bool(self.excuse)

    @property
    def attends(self) -> bool:
        """Whether it is attention: by its formulas where there are any, else by its operators."""
        return any(one.kind == "attention" for one in self.expected or self.found)


def linked(
    expected: Sequence[Expected], groups: Sequence[WorkGroup], prefix: str = ""
) -> tuple[tuple[Link, ...], int]:
    """Modules and calls side by side, and how many forwards the trace holds.

    By the module that each call ran in where the trace says it, else by equal flops. `prefix` is the path of
    what was called, where that is a part of the model that the trace names.
    """
    wanted: dict[Key, list[Expected]] = {}
    for one in expected:
        wanted.setdefault(_key(one), []).append(one)
    rest = list(groups)
    if any(group.modules for group in groups):
        ran, rest = _of_modules(wanted, rest, prefix)
    else:
        ran = {}
        for group in rest:
            ran.setdefault(_key(group), []).append(group)
        rest = [group for key in ran.keys() - wanted.keys() for group in ran.pop(key)]
    repeats = _repeats(wanted, ran)
    sums, rest = _summed(
        [e for key, es in wanted.items() if key not in ran for e in es], rest, repeats, prefix
    )
    links = list(sums)
    for one in (e for key, es in wanted.items() if key not in ran for e in es if e.kind == "attention"):
        if products := _unfused(one, rest, repeats):
            links.append(Link(one.flops, (one,), products, repeats, summed=True))
            rest = [group for group in rest if group not in products]
    done = {link.expected[0] for link in links}
    for key, said in wanted.items():
        if left := tuple(e for e in said if e not in done):
            links.append(Link(key[1], left, tuple(ran.get(key, ())), repeats))
    others: dict[Key, list[WorkGroup]] = {}
    for group in rest:
        others.setdefault(_key(group), []).append(group)
    links += [Link(key[1], (), tuple(found), repeats) for key, found in others.items()]
    return tuple(sorted(links, key=_order)), repeats


def _order(link: Link) -> tuple[int, bool, tuple[str, ...]]:
    """Most flops first; of equal ones those that formulas know."""
    return -link.flops, not link.expected, link.expected[0].names if link.expected else ()


def _key(one: Expected | WorkGroup) -> Key:
    return one.kind == "attention", one.flops


def _of_modules(
    wanted: Mapping[Key, Sequence[Expected]], groups: Sequence[WorkGroup], prefix: str
) -> tuple[dict[Key, list[WorkGroup]], list[WorkGroup]]:
    """Calls of equal flops in the very modules that the formulas name, and all other calls."""
    ran: dict[Key, list[WorkGroup]] = {}
    rest: list[WorkGroup] = []
    for group in groups:
        names = [name for one in wanted.get(_key(group), ()) for name in one.names]
        mine = {path for path in group.modules if stands_for(names, path, prefix)}
        if mine:
            ran.setdefault(_key(group), []).append(_part(group, mine))
        if others := group.modules.keys() - mine:
            rest.append(_part(group, others))
        if (unnamed := group.calls - sum(one.calls for one in group.modules.values())) > 0:
            rest.append(replace(group, calls=unnamed, kernels={}, launches=0, modules={}))
    return ran, rest


def _part(group: WorkGroup, paths: Iterable[str]) -> WorkGroup:
    """The calls of a group within some modules."""
    modules: dict[str, Place] = {path: group.modules[path] for path in group.modules if path in set(paths)}
    whole = together(list(modules.values()))
    return replace(group, calls=whole.calls, kernels=whole.kernels, launches=whole.launches, modules=modules)


def _summed(
    expected: Iterable[Expected], rest: Sequence[WorkGroup], repeats: int, prefix: str
) -> tuple[list[Link], list[WorkGroup]]:
    """Modules that no single call equals, where all their calls together are what the formula says."""
    found: list[Link] = []
    left = list(rest)
    for one in expected:
        inside = [
            (group, {path for path in group.modules if stands_for(one.names, path, prefix)})
            for group in left
            if (group.kind == "attention") == (one.kind == "attention")
        ]
        mine = [_part(group, paths) for group, paths in inside if paths]
        if not mine or sum(group.total for group in mine) != one.flops * one.times * repeats:
            continue
        found.append(Link(one.flops, (one,), tuple(mine), repeats, summed=True))
        taken = {path for _, paths in inside for path in paths}
        kind = one.kind == "attention"
        left = [
            part
            for group in left
            for part in _without(group, taken if (group.kind == "attention") == kind else set())
        ]
    return found, left


def _unfused(one: Expected, groups: Sequence[WorkGroup], repeats: int) -> tuple[WorkGroup, ...]:
    """The two products of an attention, queries on keys and scores on values, that no fused kernel ran."""
    times = one.times * repeats
    products = [(group, group.matrices) for group in groups if group.matrices and group.kind == "gemm"]
    for scores, (batch, rows, _, columns) in products:
        for values, (batch2, rows2, inner2, _) in products:
            meet = (batch, rows, columns) == (batch2, rows2, inner2)
            both = (scores, values) if scores is not values else (scores,)
            ran = sum(group.total for group in both)
            calls = {group.calls * len(both) for group in both}
            if meet and calls == {2 * times} and ran == one.flops * times:
                return both
    return ()


def _without(group: WorkGroup, paths: set[str]) -> list[WorkGroup]:
    """The group without its calls in some modules; nothing where no call is left."""
    if not paths & group.modules.keys():
        return [group]
    others = group.modules.keys() - paths
    return [_part(group, others)] if others else []


def _repeats(
    wanted: Mapping[tuple[bool, int], Sequence[Expected]], ran: Mapping[tuple[bool, int], Sequence[WorkGroup]]
) -> int:
    """The number of forwards: what all counts of calls have in common beyond the formulas' counts."""
    found = 0
    for key in wanted.keys() & ran.keys():
        said, calls = sum(e.times for e in wanted[key]), sum(g.calls for g in ran[key])
        if calls % said:
            return 1
        found = gcd(found, calls // said)
    return found or 1


def stands_for(names: Iterable[str], path: str, prefix: str = "") -> bool:
    """Whether a path is among those that names of formulas stand for; the model itself has no name."""
    below = path.removeprefix(prefix).removeprefix(".") if prefix else path
    return any(matcher(name)(below) for name in names)

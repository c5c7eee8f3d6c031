"""A scope in, the brackets of code whose duration is taken out: pairs of clock readings, events, ranges."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from forwardbook.analyzers.detail.facts import Span, Timed
from forwardbook.analyzers.detail.names import dotted, last
from forwardbook.analyzers.detail.open_file import OpenFile
from forwardbook.analyzers.detail.scopes import Scope

_CLOCKS: Final = frozenset(
    {
        *("time.perf_counter", "time.perf_counter_ns", "time.time", "time.time_ns", "time.monotonic"),
        *("time.monotonic_ns", "time.process_time", "time.process_time_ns", "time.thread_time"),
        *("timeit.default_timer", "datetime.datetime.now", "datetime.now"),
    }
)
_RANGES: Final = {
    "torch.cuda.nvtx.range": "NVTX",
    "nvtx.annotate": "NVTX",
    "torch.profiler.profile": "torch.profiler",
    "torch.autograd.profiler.profile": "torch.profiler",
    "torch.profiler.record_function": "torch.profiler",
    "torch.autograd.profiler.record_function": "torch.profiler",
    "torch.utils.benchmark.Timer": "torch.utils.benchmark",
    "cProfile.Profile": "cProfile",
}
_PUSHES: Final = {
    "torch.cuda.nvtx.range_push": "torch.cuda.nvtx.range_pop",
    "nvtx.push_range": "nvtx.pop_range",
}


def timed(file: OpenFile, scope: Scope) -> tuple[Timed, ...]:
    """The timed brackets of a scope, by their first line."""
    found = [*_clock_pairs(file, scope), *_events(file, scope), *_withs(file, scope), *_pushes(file, scope)]
    return tuple(sorted(dict.fromkeys(found), key=lambda each: (each.span.start, each.span.end)))


def _clock(file: OpenFile, node: ast.AST | None) -> str:
    if isinstance(node, ast.Call):
        name = file.names.full(node.func)
        return name if name in _CLOCKS else ""
    return ""


def _clock_pairs(file: OpenFile, scope: Scope) -> Iterator[Timed]:
    """`start = clock(); ...; clock() - start`, and the same with the second reading in a name."""
    readings: list[tuple[int, str, str]] = []  # line, name, clock
    for node in scope.each(ast.Assign):
        if clock := _clock(file, node.value):
            readings += [(node.lineno, dotted(target), clock) for target in node.targets if dotted(target)]
    for taken in scope.each(ast.BinOp) if readings else ():
        if not isinstance(taken.op, ast.Sub):
            continue
        second = dotted(taken.left)
        ends = [line for line, name, _ in readings if name == second and line <= taken.lineno]
        end = taken.lineno if _clock(file, taken.left) else (ends[-1] if ends else 0)
        first = dotted(taken.right)
        starts = [(line, clock) for line, name, clock in readings if name == first and line <= end]
        if end and starts:
            yield Timed(Span(starts[-1][0], end), starts[-1][1], _result(file, taken))


def _events(file: OpenFile, scope: Scope) -> Iterator[Timed]:
    """`start.record(); ...; stop.record(); start.elapsed_time(stop)`."""
    records: dict[str, list[int]] = {}
    for node in scope.calls:
        if isinstance(node.func, ast.Attribute) and node.func.attr == "record":
            records.setdefault(dotted(node.func.value), []).append(node.lineno)
    for node in scope.calls:
        if not isinstance(node.func, ast.Attribute) or node.func.attr != "elapsed_time" or not node.args:
            continue
        starts = records.get(dotted(node.func.value), [])
        ends = records.get(dotted(node.args[0]), [])
        if starts and ends and starts[-1] <= ends[-1]:
            yield Timed(Span(starts[-1], ends[-1]), "CUDA events", _result(file, node))


def _withs(file: OpenFile, scope: Scope) -> Iterator[Timed]:
    for node in scope.each(ast.With, ast.AsyncWith):
        if not isinstance(node, ast.With | ast.AsyncWith):
            continue
        for item in node.items:
            call = item.context_expr
            if not isinstance(call, ast.Call):
                continue
            name = file.names.full(call.func)
            clock = _RANGES.get(name, "")
            short = last(call.func).lower()
            if not clock and (
                short in ("timer", "timeit", "stopwatch", "time_it") or short.endswith("_timer")
            ):
                clock = file.text(call.func)
            if clock:
                result = dotted(item.optional_vars) if item.optional_vars is not None else ""
                label = file.text(call.args[0]) if call.args else ""
                yield Timed(Span(node.lineno, node.end_lineno or node.lineno), clock, result or label)


def _pushes(file: OpenFile, scope: Scope) -> Iterator[Timed]:
    open_ranges: list[tuple[int, str, str]] = []
    for node in scope.calls:
        name = file.names.full(node.func)
        if name in _PUSHES:
            label = file.text(node.args[0]) if node.args else ""
            open_ranges.append((node.lineno, _PUSHES[name], label))
        elif open_ranges and open_ranges[-1][1] == name:
            line, _, label = open_ranges.pop()
            yield Timed(Span(line, node.lineno), "NVTX", label)


def _result(file: OpenFile, node: ast.expr) -> str:
    """The name that a duration is bound to."""
    for above in file.scopes.above(node):
        if isinstance(above, ast.Assign):
            return dotted(above.targets[0])
        if isinstance(above, ast.AugAssign | ast.AnnAssign):
            return dotted(above.target)
        if isinstance(above, ast.Call):
            return ""
    return ""

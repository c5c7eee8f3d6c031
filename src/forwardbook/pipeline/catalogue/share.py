"""Proved entries and hashes of their code in; out the same with copies across families sharing one entry.

Two classes share where their code is the same with the names of their families taken out, and what was
derived and proved of each is the same. The same code under another default configuration, or with another
helper behind the same name, is no copy.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property

from forwardbook.analyzers.reader.alike import spans_alike
from forwardbook.saying import CONFIGURED, MODEL
from forwardbook.schema import QUANTITIES, Entry, FlopLine, MemoryLine, Regime

_NONE: dict[str, object] = {
    "regimes": (),
    "parameters": (),
    "unresolved": (),
    "generated_file_name": "",
    "generated_class_name": "",
}


def shared(
    entries: Mapping[str, Entry], digests: Mapping[str, str], holders: Collection[str] = ()
) -> dict[str, Entry]:
    """Entries by key, each copy led to the first key of its like; `digests` has the hash of each by key.

    Entries that lead elsewhere already, and those without a hash, stay as they are. Those of `holders` come
    before the others, and are led to none.
    """
    first: dict[object, str] = {}
    found: dict[str, Entry] = {}
    for key in sorted(entries, key=lambda key: (key not in holders, key)):
        entry = entries[key]
        like = (digests.get(key), entry.library, shape(entry))
        if not digests.get(key) or entry.same_as is not None or not entry.regimes:
            found[key] = entry
        elif like in first and key not in holders:
            found[key] = copy_of(entry, first[like])
        else:
            first.setdefault(like, key)
            found[key] = entry
    return found


def copy_of(entry: Entry, key: str) -> Entry:
    """The entry without formulas of its own: those of `key` are its."""
    return entry.model_copy(update={**_NONE, "same_as": key})


def withdrawn(entry: Entry, reason: str) -> Entry:
    """The entry without formulas, and why it has none any more."""
    validation = entry.validation.model_copy(update={"verdict": "unproved", "reason": reason})
    return entry.model_copy(update={**_NONE, "same_as": None, "validation": validation})


def released(entry: Entry, holder: Entry) -> Entry:
    """A copy as an entry of its own, with the formulas that its holder had."""
    return entry.model_copy(
        update={
            "same_as": None,
            "regimes": holder.regimes,
            "parameters": holder.parameters,
            "unresolved": holder.unresolved,
        }
    )


def freed(entry: Entry, holder: Entry, key: str) -> Entry:
    """A copy as an entry of its own once `key`, which it led to, says something else.

    Its lines are those of the same statements. Where these cannot be read nobody knows them: it has no
    formulas then.
    """
    lines = _Lines(entry, holder)
    try:
        moved = tuple(_moved(one, lines) for one in holder.regimes)
    except KeyError:
        return withdrawn(entry, f"its formulas were those of {key}, which says something else now")
    return released(entry, holder.model_copy(update={"regimes": moved}))


class _Lines:
    """Which lines of a copy are those of its holder: all as much further, else those of like statements."""

    def __init__(self, entry: Entry, holder: Entry) -> None:
        self._names = holder.full_class_name, entry.full_class_name
        here, there = entry.code_location, holder.code_location
        self._further = here.line_start - there.line_start
        is_as_long = here.line_end - there.line_end == self._further
        self._shifted = range(there.line_start, there.line_end + 1) if is_as_long else range(0)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The same lines of the copy; KeyError where they are not known."""
        if start in self._shifted and end in self._shifted:
            return start + self._further, end + self._further
        return (start, end) if self._is_outside(start) else self._spans[start, end]

    def line(self, line: int) -> int:
        """The same for a line on which a statement begins."""
        if line in self._shifted or self._is_outside(line):
            return self.span(line, line)[0]
        return self._starts[line]

    def _is_outside(self, line: int) -> bool:
        """Whether it is of other code that both have in common, as a base or a decorator of a library."""
        return bool(self._spans) and not any(start <= line <= end for start, end in self._spans)

    @cached_property
    def _starts(self) -> Mapping[int, int]:
        """Where what begins on a line does in the copy; of several that which ends first."""
        return {start: there for (start, _), (there, _) in sorted(self._spans.items(), reverse=True)}

    @cached_property
    def _spans(self) -> Mapping[tuple[int, int], tuple[int, int]]:
        return spans_alike(*self._names) or {}


def _moved(one: Regime, known: _Lines) -> Regime:
    """The regime with all its lines where they are in the copy."""
    flops, memory = one.flop_analysis, one.memory_analysis

    def at(line: FlopLine | MemoryLine) -> dict[str, int]:
        start, end = known.span(line.line, line.end_line)
        return {"line": start, "end_line": end}

    calls = (call.model_copy(update={"line": known.line(call.line)}) for call in flops.submodule_calls)
    lines = (line.model_copy(update=at(line)) for line in flops.lines)
    bytes_ = (line.model_copy(update=at(line)) for line in memory.lines)
    told = {"lines": tuple(lines), "submodule_calls": tuple(calls)}
    return one.model_copy(
        update={
            "flop_analysis": flops.model_copy(update=told),
            "memory_analysis": memory.model_copy(update={"lines": tuple(bytes_)}),
        }
    )


def shape(entry: Entry) -> tuple[object, ...]:
    """All that an entry says of costs; where in a file its lines are, and names of classes, do not count."""
    start = min((line.line for one in entry.regimes for line in one.flop_analysis.lines), default=0)
    names = tuple(sorted(one.name for one in entry.parameters))
    return (entry.validation.verdict, names, tuple(_regime(one, start) for one in entry.regimes))


def _regime(one: Regime, start: int) -> tuple[object, ...]:
    flops, memory = one.flop_analysis, one.memory_analysis
    return (
        one.name,
        one.conditions,
        tuple(text for text in one.assumptions if not text.startswith((CONFIGURED, MODEL))),
        one.parameters,
        tuple(one.formula(quantity) for quantity in QUANTITIES),
        tuple((li.line - start, li.flops, li.pointwise_ops, li.operations) for li in flops.lines),
        tuple((li.line - start, li.reads, li.writes) for li in memory.lines),
        tuple((c.attribute, c.times, tuple(sorted(c.bindings.items()))) for c in flops.submodule_calls),
    )

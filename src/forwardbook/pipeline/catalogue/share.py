"""Proved entries and hashes of their code in; out the same with copies across families sharing one entry.

Two classes share where their code is the same with the names of their families taken out, and what was
derived and proved of each is the same. The same code under another default configuration, or with another
helper behind the same name, is no copy.
"""

from __future__ import annotations

from collections.abc import Mapping

from forwardbook.schema import CONFIGURED, MODEL, QUANTITIES, Entry, FlopLine, MemoryLine, Regime

_NONE: dict[str, object] = {
    "regimes": (),
    "parameters": (),
    "unresolved": (),
    "generated_file_name": "",
    "generated_class_name": "",
}


def shared(entries: Mapping[str, Entry], digests: Mapping[str, str]) -> dict[str, Entry]:
    """Entries by key, each copy led to the first key of its like; `digests` has the hash of each by key.

    Entries that lead elsewhere already, and those without a hash, stay as they are.
    """
    first: dict[object, str] = {}
    found: dict[str, Entry] = {}
    for key in sorted(entries):
        entry = entries[key]
        like = (digests.get(key), entry.library, shape(entry))
        if not digests.get(key) or entry.same_as is not None or not entry.regimes:
            found[key] = entry
        elif like in first:
            found[key] = copy_of(entry, first[like])
        else:
            first[like] = key
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

    Code that is the same but for names has its lines so many further than the holder's. Where beginning and
    end do not say the same number, or lines are a base's, nobody knows them: it has no formulas then.
    """
    here, there = entry.code_location, holder.code_location
    further = here.line_start - there.line_start
    lines = [line for one in holder.regimes for line in _lines(one)]
    known = all(there.line_start <= line <= there.line_end for line in lines)
    if not known or here.line_end - there.line_end != further:
        return withdrawn(entry, f"its formulas were those of {key}, which says something else now")
    moved = tuple(_moved(one, further) for one in holder.regimes)
    return released(entry, holder.model_copy(update={"regimes": moved}))


def _lines(one: Regime) -> list[int]:
    flops, memory = one.flop_analysis, one.memory_analysis
    calls = [call.line for call in flops.submodule_calls]
    return [*(line.line for line in flops.lines), *(line.line for line in memory.lines), *calls]


def _moved(one: Regime, further: int) -> Regime:
    """The regime with all its lines so many lines further."""
    flops, memory = one.flop_analysis, one.memory_analysis

    def at(line: FlopLine | MemoryLine) -> dict[str, int]:
        return {"line": line.line + further, "end_line": line.end_line + further}

    calls = (call.model_copy(update={"line": call.line + further}) for call in flops.submodule_calls)
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

"""A proved regime in; the submodules that it calls out, and which lists of them no size counts."""

from __future__ import annotations

from collections.abc import Iterable

from forwardbook.formula import Expr
from forwardbook.pipeline.derivation.derived import Derived
from forwardbook.pipeline.derivation.entry_lines import text
from forwardbook.pipeline.derivation.found import Found
from forwardbook.schema import SubmoduleCall

_Alike = dict[tuple[int, str, tuple[tuple[str, Expr], ...]], list[str]]


def _alike(derived: Derived) -> _Alike:
    """The attributes that one line calls, by class and sizes."""
    groups: _Alike = {}
    for call in derived.pattern.subcalls:
        groups.setdefault((call.line, call.class_name, call.bindings), []).append(call.attribute)
    return groups


def uncounted(found: Found) -> tuple[str, ...]:
    """The lists of submodules of which neither a formula nor a condition says how many they hold."""
    notes = found.derived.notes
    named = found.derived.pattern.counts & found.symbols()
    counts = [notes[name].hint for name in sorted(named) if name in notes]
    lists: dict[tuple[str, str], dict[str, None]] = {}
    for (_, class_name, _), attributes in _alike(found.derived).items():
        for attribute in attributes:
            name, _, place = attribute.rpartition(".")
            if name and place.isdecimal():
                lists.setdefault((name, class_name.rpartition(".")[2]), {})[place] = None
    return tuple(
        f"{name} holds {len(places)} {kind}, as they were built: no size says how many"
        for (name, kind), places in lists.items()
        if len(places) > 1 and not any(_may_count(number, len(places)) for number in counts)
    )


def _may_count(number: int, held: int) -> bool:
    """Whether a list may be as long as a number says: one for each, one more or fewer, several for each."""
    return abs(held - number) <= 1 or (number > 1 and held % number == 0)


def submodule_calls(derived: Derived) -> Iterable[SubmoduleCall]:
    """Each line's calls of alike submodules, once, with how often and with the sizes of their attributes."""
    for (line, class_name, bindings), attributes in _alike(derived).items():
        yield SubmoduleCall(
            line=max(line, 1),
            attribute=attributes[0] if len(attributes) == 1 else ", ".join(dict.fromkeys(attributes)),
            class_name=class_name,
            times=str(len(attributes)),
            bindings={name: text(size) for name, size in bindings},
        )

"""Entries of earlier cost rules in; those whose formulas are known to be wrong, marked so, out.

What a later version of the engine found out about an earlier one: each fault says which regimes have it and
why their numbers are wrong. A class that is derived again carries the new rules and is left alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from benchmarks.grown_caches import kind_of

from forwardbook.schema import Entry, Regime
from forwardbook.workspace import Database

RULES: Final = "025851ec5b983408"
"""The version of the rules that all of these faults are of."""


def _runs(name: str) -> Callable[[Regime], bool]:
    def found(regime: Regime) -> bool:
        return any(
            operation.partition(" ")[0] == name
            for line in regime.flop_analysis.lines
            for operation in line.operations
        )

    return found


FAULTS: Final[Mapping[str, Callable[[Regime], bool]]] = {
    "its boundary has a cache that the call extends twice": lambda regime: kind_of(regime) is not None,
    "its peak and intermediates have statistics that batch norm saves in training alone": _runs(
        "aten.native_batch_norm"
    ),
    "its peak, reads and writes are of a recurrent output that lies in memory otherwise": _runs(
        "forwardbook.recurrent"
    ),
}
"""Why the formulas of a regime are wrong, and which regimes that is true of."""


NAMED: Final[Mapping[str, str]] = {
    "torch.nn.modules.adaptive.AdaptiveLogSoftmaxWithLoss": "measurement refutes it at larger sizes",
    "torch.nn.modules.normalization.CrossMapLRN2d": "its peak and boundary lack a storage that is resized",
}
"""Classes by name, and why."""

REPROVED: Final = Path(__file__).parent / "results" / "reproved.json"
"""What `forwardbook reprove` gave for classes whose layouts an earlier engine may have had wrong."""

REFUTED: Final = "it, or a class that it calls, gave other numbers when it was measured again"
"""Why classes are wrong that a reproof found different, and all that call one of them."""

UNMEASURED: Final = "it, or a class that it calls, could not be measured again with the layouts of kernels"
"""Why nobody knows of classes that a reproof could not run, and of all that call one of them."""
STRIDED: Final = "its peak and intermediates have a copy of what a linear layer adds its bias to in place"
"""Why classes are wrong that hand a strided input of three or more dimensions to a layer with a bias."""

OVERLAPPED: Final = "its reads have the rows between windows that overlap, which no window covers"
"""Why classes are wrong that read windows of a sequence, of several samples, as one view."""
KINDS: Final = "its regimes do not say which kind of layer stands where, and its costs hang on that"
"""Why classes are wrong that go through layers of several kinds: of another list it is another cost."""
WINDOWED: Final = (
    "transformers.models.gemma3n.modeling_gemma3n.Gemma3nAudioAttention",
    "transformers.models.gemma4.modeling_gemma4.Gemma4AudioAttention",
)
"""The classes that do so."""

_VIEWS: Final = frozenset({"aten.t", "aten.view", "aten.transpose", "aten.permute", "aten._unsafe_view"})
_COPIED: Final = frozenset({"aten.clone", "aten.mm", "aten.add"})


def by_reason(database: Database) -> dict[str, frozenset[str]]:
    """For each reason that holds for classes, the full names of those, and of all that call one of them."""
    calls = _calls(database)
    found = json.loads(REPROVED.read_text(encoding="utf-8"))
    return {
        STRIDED: _with_callers(calls, _strided(database)),
        REFUTED: _with_callers(calls, found["different"]),
        UNMEASURED: _with_callers(calls, found["unmeasured"]),
        OVERLAPPED: _with_callers(calls, WINDOWED),
        KINDS: _with_callers(calls, found["kinds_of_layers_unsaid"]["classes"]),
    }


def _strided(database: Database) -> set[str]:
    """The classes with a line that is such a layer and nothing else."""
    found: set[str] = set()
    for key in database:
        entry = database[key]
        for regime in entry.regimes:
            for line in regime.flop_analysis.lines:
                names = {operation.partition(" ")[0] for operation in line.operations}
                if names >= _COPIED and names - _COPIED <= _VIEWS:
                    found.add(entry.full_class_name)
    return found - {"torch.nn.modules.linear.Linear"}


def _calls(database: Database) -> dict[str, set[str]]:
    """For each class those that it calls, and the one whose formulas it shares, by full names."""
    calls: dict[str, set[str]] = {}
    for key in database:
        entry, holder = database[key], database[database.resolved(key)[0]]
        called = {call.class_name for one in holder.regimes for call in one.flop_analysis.submodule_calls}
        calls.setdefault(entry.full_class_name, set()).update(called, {holder.full_class_name})
    return calls


def _with_callers(calls: Mapping[str, set[str]], names: Iterable[str]) -> frozenset[str]:
    """The names, those of classes that share the formulas of one, and of all that call one, however deep."""
    found = set(names)
    while more := {name for name, called in calls.items() if name not in found and called & found}:
        found |= more
    return frozenset(found)


def with_faults(entry: Entry, rules: str, named: Mapping[str, Collection[str]] = {}) -> Entry:
    """The entry with each regime that has a fault unproved; `rules` are those of the database.

    `named` gives the full names of the classes that a reason holds for.
    """
    if entry.versions.get("rules", rules) != RULES:
        return entry
    more = [reason for reason, names in named.items() if entry.full_class_name in names]
    more += [NAMED[name] for name in (entry.full_class_name,) if name in NAMED]
    regimes = tuple(_marked(one, more) for one in entry.regimes)
    return entry if regimes == entry.regimes else entry.model_copy(update={"regimes": regimes})


def _marked(regime: Regime, more: Sequence[str]) -> Regime:
    reasons = [*(reason for reason, has in FAULTS.items() if has(regime)), *more]
    if not reasons or regime.proof is None:
        return regime
    said = {"verdict": "unproved", "reason": f"{'; '.join(reasons)}; derive it again"}
    return regime.model_copy(update={"proof": regime.proof.model_copy(update=said)})

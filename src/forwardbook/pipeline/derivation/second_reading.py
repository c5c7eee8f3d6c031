"""Proved regimes in; out, for each, whether its class read from source text gives the same formulas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import torch

from forwardbook.analyzers.instances.recipe import InstanceOptions, Recipe
from forwardbook.analyzers.static.agreement import differences
from forwardbook.analyzers.static.derive import run_statically, static_recipes
from forwardbook.analyzers.static.unresolved import Unresolved
from forwardbook.analyzers.symbolic.patterns import summary_at
from forwardbook.analyzers.symbolic.run import SymbolicRun, run_symbolically
from forwardbook.analyzers.symbolic.summary import short_file
from forwardbook.pipeline.derivation.derived import Derived
from forwardbook.pipeline.derivation.found import Found
from forwardbook.profiling.raised import kept
from forwardbook.schema import Derivation, Entry

READ: Final = "read from source: "  # before the reason for which reading and running do not agree
NOT_COMPARED: Final = "not compared: this call was found by trying inputs, which reading source does not do"
NOT_FOLLOWED: Final = "not compared: torch takes its fast path there, which reading source does not follow"
FAST_PATHS: Final = ("aten._native_multi_head_attention", "aten._transformer_encoder_layer_fwd")
"""Operations that torch's modules dispatch in eval mode in place of what their source says."""
Numbers = Mapping[str, int] | None
Runs = tuple[SymbolicRun | None, SymbolicRun | None, str]  # run, read, and why it could not be read


@dataclass
class SecondReading:
    """Reads what was run. `reasons` says, by class, what it could not follow or where the two differ."""

    target: str
    options: InstanceOptions
    recipes: Sequence[Recipe]
    roots: Sequence[Path] = ()
    reasons: dict[str, str] = field(default_factory=dict)
    _static: list[Recipe] | None = None
    _runs: dict[object, Runs] = field(default_factory=dict)
    _asked: dict[int, dict[str, int]] = field(default_factory=dict)

    def of(self, found: Found) -> bool | None:
        """True where every formula of a regime is the same polynomial; None where no reading was compared.

        A model of transformers is read at the sizes of its own configuration only: each reading takes
        seconds, and regimes at other sizes follow the same source.
        """
        answers = [self._one(derived) for derived in (found.derived, *found.also)]
        if False in answers:
            return False
        return None if None in answers else True

    def _one(self, derived: Derived) -> bool | None:
        hints = {name: note.hint for name, note in derived.notes.items()}
        if not self._compared(derived, hints):
            return None
        pins: list[Numbers] = [None]
        if derived.interpolated:  # a loop count: one more of each must agree too
            pins.append({name: hints[name] + 1 for name in derived.interpolated})
        answers = [self._agree(derived, hints, pinned) for pinned in pins]
        return False if False in answers else None if None in answers else True

    def _compared(self, derived: Derived, hints: Mapping[str, int]) -> bool:
        if not self.target.startswith("transformers."):
            return True
        build = derived.recipe.build
        if id(build) not in self._asked:
            asked = self._asked[id(build)] = {}

            def note(name: str, hint: int, meaning: str = "", source: str = "") -> int:
                return asked.setdefault(name, hint)

            with torch.device("meta"):
                build(note)
        return all(hints.get(name) == hint for name, hint in self._asked[id(build)].items())

    def _agree(self, derived: Derived, hints: Mapping[str, int], pinned: Numbers) -> bool | None:
        ran, read, problem = self._both(derived, hints, pinned)
        if ran is None and pinned is not None:
            return True  # the class itself refuses other counts
        if problem:
            self.reasons.setdefault(derived.target, problem)
        if ran is None or read is None:
            return None
        if any(operation.name in FAST_PATHS for operation in ran.trace.operations):
            self.reasons.setdefault(derived.target, NOT_FOLLOWED)
            return None
        path, occurrence = derived.pattern.path, derived.pattern.occurrence
        summary, others = (summary_at(run, path, occurrence) for run in (read, ran))
        place = path or derived.target.rpartition(".")[2]
        if summary is None or others is None:
            self.reasons.setdefault(derived.target, f"{place} is not called when it is read")
            return False
        first = next(differences(summary, others), None)
        if first is not None:
            self.reasons.setdefault(derived.target, f"{place}, {first}")
        return first is None

    def _both(self, derived: Derived, hints: Mapping[str, int], pinned: Numbers) -> Runs:
        recipe, dtype = derived.recipe, derived.dtype
        pins = tuple((pinned or {}).items())
        key = (id(recipe.build), id(recipe.inputs), dtype, tuple(hints.items()), pins)
        if key not in self._runs:
            self._runs[key] = self._run(recipe, dtype, hints, pinned)
        return self._runs[key]

    def _run(self, recipe: Recipe, dtype: torch.dtype, hints: Numbers, pinned: Numbers) -> Runs:
        if recipe.numbers:
            return None, None, ""  # the same call as one that is read, some of its sizes at their least
        try:
            ran = run_symbolically(recipe, dtype, hints, pinned)
        except Exception:  # noqa: BLE001 - it runs at its hints; at other counts it may refuse
            return None, None, ""
        try:
            twin = self._twin(recipe)
            if twin is None:
                return ran, None, NOT_COMPARED
            return ran, run_statically(twin, dtype, hints, pinned), ""
        except Exception as error:  # noqa: BLE001 - reading never fails what running has shown
            return ran, None, f"not followed: {_said(error)}"

    def _twin(self, recipe: Recipe) -> Recipe | None:
        """The recipe of interpreted classes for a recipe of imported ones, with the same way of inputs.

        None for a call that was found by trying: reading does not try."""
        if self._static is None:
            self._static = static_recipes(self.target, self.options, self.roots)
        for ours, theirs in zip(self._static, self.recipes, strict=True):
            ways = (theirs.inputs, *theirs.alternatives)
            chosen = next((i for i, way in enumerate(ways) if way is recipe.inputs), None)
            if theirs.build is recipe.build and chosen is not None:
                return replace(ours, inputs=(ours.inputs, *ours.alternatives)[chosen], alternatives=())
        return None

    def noted(self, entry: Entry, target: str = "") -> Entry:
        """The entry with what came of reading: a second derivation, or the reason why it is none.

        `target` is the class whose calls were compared, where it is not that of the entry (lazy modules)."""
        answers = {one.proof.static_agrees for one in entry.regimes if one.proof is not None}
        agree = True in answers and False not in answers
        by: tuple[Derivation, ...] = (*entry.derived_by, *(("static",) if agree else ()))
        why = self.reasons.get(target or entry.full_class_name, "")
        said = [entry.validation.reason, f"{READ}{why}" if why else ""]
        validation = entry.validation.model_copy(update={"reason": "; ".join(filter(None, said))})
        return entry.model_copy(update={"derived_by": by, "validation": validation})


def _said(error: Exception) -> str:
    """The construct that stopped the reading, with its file as short as it is stored."""
    if isinstance(error, Unresolved):
        return f"{short_file(error.file)}:{error.line}: {' '.join(error.reason.split())}"
    return " ".join(kept(error).split())

"""Budgets and entries in; out, for each budget, what its class costs there and whether that is kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from forwardbook.guard.budget import Budget
from forwardbook.guard.change import value_of
from forwardbook.guard.settings import Settings, is_named
from forwardbook.guard.sizes import holds, stated_numbers, usual_regimes
from forwardbook.schema import PROVED, WIDTH_NAMES, Entry, Regime


@dataclass(frozen=True, slots=True)
class Kept:
    """One budget held against one class; `problem` says why it could not be, and is then a failure."""

    budget: Budget
    full_class_name: str
    file: str = ""
    line: int = 0
    regime: str = ""
    value: int | None = None
    formula: str = ""
    sizes: Mapping[str, int] | None = None
    problem: str = ""

    @property
    def is_kept(self) -> bool:
        """Whether the class costs what the budget allows."""
        return self.value is not None and self.budget.holds(self.value)


def kept(settings: Settings, entries: Mapping[str, Entry]) -> Iterator[Kept]:
    """Every budget held against the one class that its name means."""
    for budget in settings.budgets:
        keys = [key for key, e in entries.items() if budget.name in (key, e.full_class_name)]
        keys = keys or [key for key, e in entries.items() if is_named(e.full_class_name, budget.name)]
        if len(keys) == 1:
            yield _held(
                budget, entries[keys[0]], settings.sizes_of(entries[keys[0]].full_class_name, keys[0])
            )
            continue
        found = ", ".join(sorted(entries[key].full_class_name for key in keys)[:6])
        problem = (
            f"several classes have this name: {found}; give the full name"
            if keys
            else "no class of the database has this name; add it: forwardbook analyze-module"
        )
        yield Kept(budget, budget.name, problem=problem)


def _held(budget: Budget, entry: Entry, wanted: Mapping[str, int]) -> Kept:
    place = (budget, entry.full_class_name, entry.code_location.file, entry.code_location.line_start)
    if entry.validation.verdict not in PROVED:
        reason = f"its formulas are {entry.validation.verdict}: {entry.validation.reason}"
        return Kept(*place, problem=reason)
    known = {**stated_numbers(entry, wanted), **budget.sizes}
    reasons: list[str] = []
    for regime in usual_regimes(entry):
        problem = _misfit(regime, budget.sizes, known)
        if problem:
            reasons.append(f"{regime.name}: {problem}")
            continue
        sizes = {name: known[name] for name in regime.parameters}
        formula = regime.formula(budget.quantity)
        value = value_of(formula, sizes)
        if value is not None:
            return Kept(*place, regime.name, value, formula, sizes)
        reasons.append(f"{regime.name}: {formula} has no value there")
    return Kept(*place, problem="; ".join(_first(reasons)) or "it has no formulas")


def _misfit(regime: Regime, said: Mapping[str, int], known: Mapping[str, int]) -> str:
    """Why a regime is not the one that a budget means; empty where it is."""
    foreign = [name for name in said if name not in regime.parameters and name not in WIDTH_NAMES]
    missing = [name for name in regime.parameters if name not in known]
    if foreign:
        return f"it does not depend on {', '.join(foreign)}"
    if missing:
        return f"a size is missing: {', '.join(missing)}"
    if not holds(regime, {name: known[name] for name in regime.parameters}):
        return f"it holds when {' and '.join(regime.conditions) or 'sizes are above 0'}"
    return ""


def _first(reasons: Sequence[str], shown: int = 4) -> list[str]:
    rest = [f"and {len(reasons) - shown} more regimes"] if len(reasons) > shown else []
    return [*reasons[:shown], *rest]

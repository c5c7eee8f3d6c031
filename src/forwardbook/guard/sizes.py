"""A regime and what a project says of sizes in; out the number that each of its names stands for, and why."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from forwardbook.calculator.choice import CalculatorError, of_build
from forwardbook.formula import Condition, FormulaError
from forwardbook.schema import USUAL_SIZES, Entry, Regime


@dataclass(frozen=True, slots=True)
class Sizes:
    """Numbers by name; `origin` says where they are from."""

    values: Mapping[str, int]
    origin: str


def default_numbers(entry: Entry) -> dict[str, int]:
    """The whole numbers that the constructor and forward() take where a caller gives none."""
    return _numbers({**entry.call_defaults, **entry.defaults})


def given_numbers(entry: Entry) -> dict[str, int]:
    """The whole numbers with which a person had the class built."""
    if entry.given is None:
        return {}
    fields: dict[str, object] = {**(entry.given.config or {})}
    for name, text in entry.given.init.items():
        try:
            fields[name] = json.loads(text)
        except ValueError:
            continue
    return _numbers(fields)


def stated_numbers(entry: Entry, wanted: Mapping[str, int]) -> dict[str, int]:
    """The sizes of an ordinary call: usual ones, then defaults, what it was built with, `wanted`."""
    return {**USUAL_SIZES, **default_numbers(entry), **given_numbers(entry), **wanted}


def usual_regimes(entry: Entry) -> list[Regime]:
    """The regimes of a module that is built and called with the defaults; all where none is of that build."""
    try:
        return of_build(entry.class_name, entry.regimes, {**entry.call_defaults, **entry.defaults}, {})
    except CalculatorError:
        return [*entry.regimes]


def reference_sizes(entry: Entry, regime: Regime, wanted: Mapping[str, int]) -> Sizes | None:
    """Sizes at which a regime holds: those of an ordinary call of the class, `wanted` before all.

    A name that nobody states has its value at the first proved point, which the origin then says. Where the
    regime does not hold there, the first of its proved points is taken whole; None where it has none.
    """
    points = [dict(point.sizes) for point in regime.points]
    stated = stated_numbers(entry, wanted)
    if (chosen := sizes_of(regime, {**(points[0] if points else {}), **stated})) is not None:
        drawn = [name for name in regime.parameters if name not in stated]
        return Sizes(chosen, f"reference; {', '.join(drawn)} of a proved point" if drawn else "reference")
    built = {**default_numbers(entry), **given_numbers(entry), **wanted}
    for point in points:  # a call of other sizes than usual, of the class as it is built
        if (chosen := sizes_of(regime, {**point, **built})) is not None:
            drawn = [name for name in regime.parameters if name not in built]
            return Sizes(chosen, f"{', '.join(drawn)} of a proved point")
    for point in points:
        if all(name in point for name in regime.parameters):
            return Sizes({name: point[name] for name in regime.parameters}, "a proved point")
    return None


def sizes_of(regime: Regime, known: Mapping[str, int]) -> dict[str, int] | None:
    """The sizes that a regime has of what is known; None where one is missing or it does not hold there."""
    chosen = {name: known[name] for name in regime.parameters if name in known}
    return chosen if len(chosen) == len(regime.parameters) and holds(regime, chosen) else None


def holds(regime: Regime, sizes: Mapping[str, int]) -> bool:
    """Whether all conditions of a regime are true, and no size is below what its formulas were made for."""
    least = {name: 0 if f"{{{name}}} >= 0" in regime.conditions else 1 for name in regime.parameters}
    if any(sizes.get(name, 0) < low for name, low in least.items()):
        return False
    try:
        return all(Condition.parse(text).holds(sizes) for text in regime.conditions)
    except FormulaError:
        return False


def _numbers(fields: Mapping[str, object]) -> dict[str, int]:
    return {name: value for name, value in fields.items() if type(value) is int and value >= 0}

"""A regime and what a project says of sizes in; out the number that each of its names stands for, and why."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from forwardbook.formula import Condition, FormulaError
from forwardbook.schema import USUAL_SIZES, Entry, Regime


@dataclass(frozen=True, slots=True)
class Sizes:
    """Numbers by name; `origin` says where they are from."""

    values: Mapping[str, int]
    origin: str


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
    return {name: value for name, value in fields.items() if type(value) is int and value >= 0}


def reference_sizes(entry: Entry, regime: Regime, wanted: Mapping[str, int]) -> Sizes | None:
    """Sizes at which a regime holds: the project's, else what the class was built with, else usual ones.

    A name that none of them gives has its value at the first proved point. Where the regime does not hold
    there, the first of its proved points is taken whole; None where it has none.
    """
    points = [dict(point.sizes) for point in regime.proof.points] if regime.proof is not None else []
    known = {**(points[0] if points else {}), **USUAL_SIZES, **given_numbers(entry), **wanted}
    chosen = {name: known[name] for name in regime.parameters if name in known}
    if len(chosen) == len(regime.parameters) and holds(regime, chosen):
        return Sizes(chosen, "reference")
    for point in points:
        if all(name in point for name in regime.parameters):
            return Sizes({name: point[name] for name in regime.parameters}, "a proved point")
    return None


def holds(regime: Regime, sizes: Mapping[str, int]) -> bool:
    """Whether all conditions of a regime are true, and no size is below what its formulas were made for."""
    least = {name: 0 if f"{{{name}}} >= 0" in regime.conditions else 1 for name in regime.parameters}
    if any(sizes.get(name, 0) < low for name, low in least.items()):
        return False
    try:
        return all(Condition.parse(text).holds(sizes) for text in regime.conditions)
    except FormulaError:
        return False

"""Choosing a regime: the regimes of a class and sizes in, the one that holds or why none does out."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence, Set
from typing import Final

from forwardbook.calculator.formulas import RegimeFormulas
from forwardbook.errors import ForwardbookError

WIDTHS: Final = frozenset({"w_dtype_bytes", "a_dtype_bytes", "kv_dtype_bytes"})
"""Bytes of an element: may be given to every class, also to one whose cost does not depend on them."""

Regimes = Sequence[type[RegimeFormulas]]


class CalculatorError(ForwardbookError):
    """A calculator was asked for something that its formulas do not answer."""


class OutsideRegimesError(CalculatorError):
    """No regime holds for these sizes; the message gives the reasons for each."""


def named(regimes: Regimes, name: str, class_name: str) -> type[RegimeFormulas]:
    """The regime of a name."""
    for regime in regimes:
        if regime.name == name:
            return regime
    known = ", ".join(regime.name for regime in regimes) or "none"
    raise CalculatorError(f"evaluating {class_name}: there is no regime {name!r}; its regimes: {known}")


def takes(regime: type[RegimeFormulas], given: Set[str]) -> bool:
    """Whether the regime's parameters are exactly the given names, widths aside."""
    return regime.names <= given and given - WIDTHS <= regime.names


def fitting(regime: type[RegimeFormulas], sizes: Mapping[str, int]) -> dict[str, int] | None:
    """The sizes under the names that the regime's methods take, or None where it does not hold for them."""
    if any(sizes[name] < least for name, least in regime.least_sizes.items()):
        return None
    arguments = regime.arguments(sizes)
    try:
        return arguments if all(regime.holds(**arguments)) else None
    except ZeroDivisionError:
        return None


def problems(regime: type[RegimeFormulas], sizes: Mapping[str, int], *, forced: bool = False) -> list[str]:
    """Why the regime does not hold: names missing or not taken, sizes too small, conditions that fail."""
    found = _name_problems(regime, tuple(sizes), forced=forced)
    if any(name not in sizes for name in regime.parameters):
        return found
    small = [(name, least) for name, least in regime.least_sizes.items() if sizes[name] < least]
    found += [f"{{{name}}} must be at least {least}, not {sizes[name]}" for name, least in small]
    return found + ([] if small else _failing(regime, sizes))


def outside(
    class_name: str, regimes: Regimes, sizes: Mapping[str, int], *, forced: bool = False
) -> OutsideRegimesError:
    """The error that says for each regime what fails."""
    known = {name for regime in regimes for name in regime.parameters}
    given = ", ".join(f"{name}={value}" for name, value in sizes.items()) or "no sizes"
    lines = [f"evaluating {class_name}: no regime holds for {given}"]
    if not regimes:
        lines.append("  it has no formulas; `forwardbook show` says what is unresolved")
    lines += [
        f"  {regime.name}: {'; '.join(problems(regime, sizes, forced=forced)) or 'holds'}"
        for regime in regimes
    ]
    for name in sizes:
        if name not in known | WIDTHS and (near := difflib.get_close_matches(name, known, n=3)):
            lines.append(f"  {name} is not a name of this class; did you mean {' or '.join(near)}?")
    return OutsideRegimesError("\n".join(lines))


def _name_problems(regime: type[RegimeFormulas], given: Sequence[str], *, forced: bool = False) -> list[str]:
    missing = [f"{{{name}}}" for name in regime.parameters if name not in given]
    foreign = [f"{{{name}}}" for name in given if name not in regime.parameters and name not in WIDTHS]
    found = [f"missing {', '.join(missing)}"] if missing else []
    return found + ([f"does not depend on {', '.join(foreign)}"] if foreign and not forced else [])


def _failing(regime: type[RegimeFormulas], sizes: Mapping[str, int]) -> list[str]:
    arguments = regime.arguments(sizes)
    try:
        held = regime.holds(**arguments)
    except ZeroDivisionError:
        return ["a condition divides by zero"]
    return [f"{text} does not hold" for text, holds in zip(regime.conditions, held, strict=True) if not holds]

"""Choosing a regime: the regimes of a class and sizes in, the one that holds or why none does out."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence, Set
from typing import Final, Protocol, TypeVar

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


class OfBuild(Protocol):
    """A regime, as a record or as code: what its module is built and called with."""

    @property
    def choices(self) -> Mapping[str, object]:
        """Arguments that are no sizes, with their values."""
        ...


One = TypeVar("One", bound=OfBuild)


def usual(regimes: Sequence[OfBuild], defaults: Mapping[str, object]) -> dict[str, object]:
    """The value of each choice where nobody says another: its default, else that of the first regime."""
    found: dict[str, object] = {}
    for name in dict.fromkeys(name for regime in regimes for name in regime.choices):
        values = _values(regimes, name, defaults)
        is_open = name in defaults and any(_same(value, defaults[name]) for value in values)
        found[name] = defaults[name] if is_open else values[0]
    return found


def of_build(
    class_name: str, regimes: Sequence[One], defaults: Mapping[str, object], wanted: Mapping[str, object]
) -> list[One]:
    """The regimes of modules that are built and called with the wanted choices, all others as usual.

    Raises:
        CalculatorError: for a choice that no regime has; it lists those there are.
    """
    values = usual(regimes, defaults)
    for name, value in wanted.items():
        if name not in values or not any(_same(value, one) for one in _values(regimes, name, defaults)):
            problem = f"there is no regime with {name}={value!r}"
            advice = f"{_open(regimes, defaults)}; {_derive({name: value})}"
            raise CalculatorError(f"evaluating {class_name}: {problem}; {advice}")
    values |= wanted
    found = [r for r in regimes if all(_same(_value(r, n, defaults, v), v) for n, v in values.items())]
    if regimes and not found:
        said = ", ".join(f"{name}={value!r}" for name, value in wanted.items())
        advice = f"{_open(regimes, defaults)}; {_derive(wanted)}"
        raise CalculatorError(f"evaluating {class_name}: no regime has all of {said}; {advice}")
    return found


def not_sizes(
    class_name: str, regimes: Regimes, defaults: Mapping[str, object], sizes: Mapping[str, object]
) -> dict[str, object]:
    """What stands among the sizes and is a choice.

    Raises:
        CalculatorError: for a value that no regime has; it says how to get formulas for it.
    """
    named_sizes = {name for regime in regimes for name in regime.names}
    found = {n: v for n, v in sizes.items() if n not in named_sizes and any(n in r.choices for r in regimes)}
    for name, value in found.items():
        values = _values(regimes, name, defaults)
        if not any(_same(value, one) for one in values):
            known = " or ".join(dict.fromkeys(f"{name}={one!r}" for one in values))
            raise CalculatorError(
                f"evaluating {class_name}: its formulas are of modules with {known}, and {name}={value} is "
                f"another; {_derive({name: value})}"
            )
    return found


def _derive(wanted: Mapping[str, object]) -> str:
    """How formulas of another build or call are got."""
    given = " ".join(f"--init {name}={value}" for name, value in wanted.items())
    return f"derive it with `forwardbook analyze-module ... {given}` (--input for an argument of forward())"


def _values(regimes: Sequence[OfBuild], name: str, defaults: Mapping[str, object]) -> list[object]:
    """The values of a choice in each regime; one that does not name it has it by default."""
    return [regime.choices.get(name, defaults.get(name)) for regime in regimes]


def _value(regime: OfBuild, name: str, defaults: Mapping[str, object], otherwise: object) -> object:
    return regime.choices.get(name, defaults.get(name, otherwise))


def _same(one: object, other: object) -> bool:
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def _open(regimes: Sequence[OfBuild], defaults: Mapping[str, object]) -> str:
    """The choices that there are, for an error."""
    told = []
    for name in usual(regimes, defaults):
        values = list(dict.fromkeys(map(repr, _values(regimes, name, defaults))))
        told += [f"{name}={' or '.join(values)}"] if len(values) > 1 else []
    return f"its choices: {', '.join(told)}" if told else "it has no choices"


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


def problems(
    regime: type[RegimeFormulas],
    sizes: Mapping[str, int],
    *,
    forced: bool = False,
    others: Set[str] = frozenset(),
) -> list[str]:
    """Why the regime does not hold: names missing or not taken, sizes too small, conditions that fail.

    The class depends on `others`, though this regime may not have them.
    """
    found = _name_problems(regime, tuple(sizes), others, forced=forced)
    if any(name not in sizes for name in regime.parameters):
        return found
    small = [(name, least) for name, least in regime.least_sizes.items() if sizes[name] < least]
    found += [f"{{{name}}} must be at least {least}, not {sizes[name]}" for name, least in small]
    return found + ([] if small else _failing(regime, sizes))


def outside(
    class_name: str,
    regimes: Regimes,
    sizes: Mapping[str, int],
    *,
    forced: bool = False,
    others: Set[str] = frozenset(),
) -> OutsideRegimesError:
    """The error that says for each regime what fails; `others` are further names the class depends on."""
    known = {name for regime in regimes for name in regime.parameters}
    given = ", ".join(f"{name}={value}" for name, value in sizes.items()) or "no sizes"
    lines = [f"evaluating {class_name}: no regime holds for {given}"]
    if not regimes:
        lines.append("  it has no formulas; `forwardbook show` says what is unresolved")
    for regime in regimes:
        found = problems(regime, sizes, forced=forced, others=known | others)
        lines.append(f"  {regime.name}: {'; '.join(found) or 'holds'}")
    for name in sizes:
        if name not in known | WIDTHS and (near := difflib.get_close_matches(name, known, n=3)):
            lines.append(f"  {name} is not a name of this class; did you mean {' or '.join(near)}?")
    return OutsideRegimesError("\n".join(lines))


def _name_problems(
    regime: type[RegimeFormulas], given: Sequence[str], others: Set[str], *, forced: bool = False
) -> list[str]:
    missing = [f"{{{name}}}" for name in regime.parameters if name not in given]
    foreign = [f"{{{name}}}" for name in given if name not in regime.parameters and name not in WIDTHS]
    found = [f"missing {', '.join(missing)}"] if missing else []
    if forced:
        return found
    elsewhere = [name for name in foreign if name.strip("{}") in others]
    nowhere = [name for name in foreign if name not in elsewhere]
    found += [f"has no size {', '.join(elsewhere)}"] if elsewhere else []
    return found + ([f"does not depend on {', '.join(nowhere)}"] if nowhere else [])


def _failing(regime: type[RegimeFormulas], sizes: Mapping[str, int]) -> list[str]:
    arguments = regime.arguments(sizes)
    try:
        held = regime.holds(**arguments)
    except ZeroDivisionError:
        return ["a condition divides by zero"]
    return [f"{text} does not hold" for text, holds in zip(regime.conditions, held, strict=True) if not holds]

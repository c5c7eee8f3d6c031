"""Sizes for which no regime of a class holds in; why, in plain words, out."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from forwardbook.entries.definitions import completed, plain
from forwardbook.entries.evaluate import Evaluator
from forwardbook.entries.expressions import RegimeExpressions
from forwardbook.entries.regimes import EntryError, Signature
from forwardbook.errors import FormulaError
from forwardbook.formula import Condition

_WORDS: Final = {
    "==": "must be",
    "!=": "must not be",
    "<": "must be less than",
    "<=": "must be at most",
    ">": "must be more than",
    ">=": "must be at least",
}
_TOLD: Final = 8  # regimes whose reasons are listed
_DEEPEST: Final = 20  # calls within calls that are explained
_LATER: Final = "another regime, which is tried before it, holds there"


class OutsideRegimes(EntryError):
    """No regime of the class holds at these sizes; `reasons` has the problems of each by its name."""

    def __init__(self, message: str, reasons: Mapping[str, Sequence[str]]) -> None:
        super().__init__(message)
        self.reasons = reasons


def outside(
    evaluator: Evaluator,
    name: str,
    signatures: Sequence[Signature],
    sizes: Mapping[str, int],
    regime: str | None = None,
) -> OutsideRegimes:
    """The error for sizes at which nothing holds: each regime with what fails, the nearest first.

    If one regime alone was asked for, what fails of that.
    """
    tried = [each for one in signatures for each in one.regimes if regime in (None, each.regime.name)]
    said = [(each, list(_problems(evaluator, each, sizes)) or [_LATER]) for each in tried]
    said.sort(key=lambda one: len(one[1]))
    reasons = {each.regime.name: problems for each, problems in said}
    lacking = [_missing(each, sizes) for each in tried]
    if lacking and all(lacking):
        return OutsideRegimes(_not_given(name, min(lacking, key=len), tried), reasons)
    told = ", ".join(f"{size}={value}" for size, value in sizes.items()) or "no sizes"
    what = "no regime holds" if regime is None else f"regime {regime!r} does not hold"
    lines = [f"evaluating {name}: {what} for {told}"]
    for place, (each, problems) in enumerate(said[:_TOLD]):
        lines.append(f"  {each.regime.name}: {'; '.join(problems)}")
        if place == 0 and (demands := demands_of(each)):
            nearest = "it is the nearest, and" if regime is None else "it"
            lines.append(f"    {nearest} holds where {', '.join(demands)}")
    if len(said) > _TOLD:
        lines.append(f"  and {len(said) - _TOLD} more regimes")
    return OutsideRegimes("\n".join(lines), reasons)


def _missing(regime: RegimeExpressions, given: Mapping[str, int]) -> list[str]:
    """The names that a regime needs and that do not follow; none where its definitions disagree."""
    try:
        return sorted(regime.needed - completed(regime.definitions, given).keys())
    except FormulaError:
        return []


def _not_given(name: str, missing: Sequence[str], tried: Sequence[RegimeExpressions]) -> str:
    """The message where every regime lacks a size: what is needed, and which of it follows from the rest."""
    made = {n: value for each in tried for n, value in each.definitions.items()}
    follows = [
        f"  {n} = {plain(value)}: give all but one of these"
        for n, value in made.items()
        if not {n, *value.symbols()}.isdisjoint(missing)
    ]
    verb = "is" if len(missing) == 1 else "are"
    return "\n".join([f"evaluating {name}: {', '.join(missing)} {verb} not given", *follows])


def demands_of(regime: RegimeExpressions) -> list[str]:
    """Definitions and conditions of a regime as people write them."""
    made = [f"{name} = {plain(value)}" for name, value in regime.definitions.items()]
    return made + [f"{plain(one.left)} {one.op} {plain(one.right)}" for one in regime.conditions]


def several_classes(name: str, keys: Collection[str]) -> EntryError:
    """The error for a name that several classes have."""
    told = ", ".join(sorted(keys)[:_TOLD]) + (" ..." if len(keys) > _TOLD else "")
    return EntryError(f"looking for {name}: several classes have this name, use a key: {told}")


def unknown_class(name: str, names: Mapping[str, str]) -> EntryError:
    """The error for a name that no class has, of full class names by key; it suggests near ones."""
    known = dict.fromkeys(other for key, full in names.items() for other in (key, full.rpartition(".")[2]))
    near = difflib.get_close_matches(name, known, n=3)
    hint = f"did you mean {' or '.join(near)}?" if near else "`forwardbook list` prints the names it has."
    return EntryError(
        f"looking for {name}: it is not in the database; {hint} A new class is added by: "
        "forwardbook analyze-module package.module.Class"
    )


def unknown_names(name: str, unknown: Collection[str], known: Collection[str]) -> EntryError:
    """The error for names that a class does not have; it suggests near ones."""
    lines = [
        f"evaluating {name}: it has no size {', '.join(unknown)}; its sizes: {', '.join(known) or 'none'}"
    ]
    for one in unknown:
        if near := difflib.get_close_matches(one, known, n=3):
            lines.append(f"  {one}: did you mean {' or '.join(near)}?")
    return EntryError("\n".join(lines))


def not_together(name: str, lacking: Mapping[str, Sequence[str]]) -> EntryError:
    """The error for names that a class has, but no way to call it has all of; each with those it has not."""
    nearest = sorted(lacking.items(), key=lambda one: len(one[1]))[:_TOLD]
    lines = [f"  {signature}: has no {', '.join(names)}" for signature, names in nearest]
    return EntryError("\n".join([f"evaluating {name}: no way to call it has all of these sizes", *lines]))


def _problems(
    evaluator: Evaluator, regime: RegimeExpressions, given: Mapping[str, int], depth: int = 0
) -> Iterator[str]:
    """What of a regime does not hold: everything of its own, else the first of its calls."""
    try:
        sizes = completed(regime.definitions, given)
        found = [*_own_problems(regime, sizes)]
        yield from found or _call_problems(evaluator, regime, sizes, depth)
    except FormulaError as error:
        yield str(error)


def _own_problems(regime: RegimeExpressions, sizes: Mapping[str, int]) -> Iterator[str]:
    if missing := sorted(regime.needed - sizes.keys()):
        yield f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} not given"
    for name, least in regime.least.items():
        if name in sizes and sizes[name] < least:
            yield f"{name} must be at least {least}, but is {sizes[name]}"
    for one in regime.conditions:
        if one.symbols() <= sizes.keys() and not one.is_met(sizes):
            yield _violated(one, sizes)


def _violated(condition: Condition, sizes: Mapping[str, int]) -> str:
    """`seq_len must be at least 2, but is 1`."""
    demand = f"{plain(condition.left)} {_WORDS[condition.op]} {plain(condition.right)}"
    try:
        left, right = condition.left.evaluate(sizes), condition.right.evaluate(sizes)
    except FormulaError as error:
        return f"{demand}, but {error}"
    numbers = f"is {left}" if condition.right.is_const else f"here it is {left}, and that {right}"
    return f"{demand}, but {numbers}"


def _call_problems(
    evaluator: Evaluator, regime: RegimeExpressions, sizes: Mapping[str, int], depth: int
) -> Iterator[str]:
    """The first call for which no regime holds, and why the one of them does not that demands the least."""
    for call in regime.calls:
        times, child = evaluator.call(call, sizes)
        if not times or child is not None:
            continue
        bound = {name: value.evaluate(sizes) for name, value in call.bindings.items()}
        signature = evaluator.regimes.signature(call.call.entry, call.call.signature)
        problems = ["no regime holds"]
        if depth < _DEEPEST:
            nearest = min(signature.regimes, key=lambda one: len(_demanded(one, bound)))
            problems = [*_problems(evaluator, nearest, bound, depth + 1)]
        yield f"in {signature.key} (self.{call.call.attribute}, line {call.call.line}): {'; '.join(problems)}"
        return


def _demanded(regime: RegimeExpressions, given: Mapping[str, int]) -> list[str]:
    """What of a regime does not hold, its calls aside."""
    try:
        return [*_own_problems(regime, completed(regime.definitions, given))]
    except FormulaError as error:
        return [str(error)]

"""Two entries of one class in; out where measurements of one refute the other, and what one says less of.

Both must be of the same source and the same versions: then each measured point is true of either.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from forwardbook.errors import FormulaError
from forwardbook.formula import Expr
from forwardbook.pipeline.reprove.joined import states_named, with_states
from forwardbook.pipeline.reprove.narrowed import proved_at
from forwardbook.pipeline.reprove.stored_regimes import StoredRegime, unplaced
from forwardbook.pipeline.versions import of_one_state
from forwardbook.profiling.proof import predict
from forwardbook.saying import ROUTED, at_place
from forwardbook.schema import Entry, ProofPoint, Regime

PART: Final = " alone"  # how a scenario ends in which a part of a model was called by itself
_PINNED: Final = re.compile(r"\{(\w[\w.]*)\} == (\d+)")


def is_of_the_same(entry: Entry, other: Entry) -> bool:
    """Whether both are of one state of the code of a class and of all that it runs on."""
    same_code = (entry.source_hash, entry.code_hash) == (other.source_hash, other.code_hash)
    return same_code and of_one_state(entry, other)


def missed(entry: Entry, proved: Entry) -> list[ProofPoint]:
    """Points of the proof of `proved` at which `entry` speaks of the same call, and no regime is right."""
    ours = [StoredRegime(one) for one in entry.regimes]
    found: list[ProofPoint] = []
    for regime, point in _points(proved):
        speaking = [one for one in ours if _is_of_one_call(one.regime, regime) and one.holds(point.sizes)]
        if speaking and not any(_gives(one, point) for one in speaking):
            found.append(point)
    return found


def says_less(entry: Entry, other: Entry) -> str:
    """What `other` speaks of and `entry` does not: places, number formats, sizes; empty if there is none."""
    here = {place for one in entry.regimes for place in _places(one)}
    others = [one for one in other.regimes if not one.scenario.endswith(PART)]
    theirs = {place for one in others for place in _places(one)}
    if lost := sorted(one for one in theirs if not any(one == x or at_place(x, one) for x in here)):
        return f"says nothing of calls at {lost[0]}"
    told = {one.scenario for one in entry.regimes}
    if formats := sorted(one for one in _formats(others) - _formats(entry.regimes) if one[0] in told):
        return f"is not proved in {formats[0][1]}"
    pinned, before = [_pinned(one) for one in entry.regimes], [_pinned(one) for one in other.regimes]
    if all(pinned) and not all(before):
        return f"speaks of {min(pinned, key=len)[0]} alone"
    return ""


def joined(entry: Entry, other: Entry) -> Entry | None:
    """`entry` with states of live storage of `other` that its peaks lacked at points of that one's proof.

    Nothing where these do not make it right at all points of both.
    """
    regimes = tuple(_with_lacking(one, other) for one in entry.regimes)
    if regimes == entry.regimes:
        return None
    names = {name for one in regimes for name in one.parameters} - {one.name for one in entry.parameters}
    known = {one.name: one for one in other.parameters}
    if not names <= known.keys():
        return None
    parameters = sorted((*entry.parameters, *(known[name] for name in names)), key=lambda one: one.name)
    found = entry.model_copy(update={"regimes": regimes, "parameters": tuple(parameters)})
    return None if missed(found, other) or missed(found, entry) else found


def _with_lacking(regime: Regime, other: Entry) -> Regime:
    """The regime with the states that were the largest where its peak was measured to be more."""
    for theirs in (one for one in other.regimes if _is_of_one_call(one, regime) and one.proof is not None):
        states = states_named(theirs)
        for point in theirs.points:
            ours, peak = StoredRegime(regime), point.measured.get("peak")
            if peak is None or not ours.holds(point.sizes):
                continue
            told = predict(ours.formulas["peak"], point.sizes)
            largest = next((one for one in states if predict(one, point.sizes) == peak), None)
            if told is not None and told < peak and largest is not None:
                regime = _joined(regime, largest, point)
    return regime


def _joined(regime: Regime, state: Expr, point: ProofPoint) -> Regime:
    try:
        return proved_at(with_states(regime, [state]), [point])
    except FormulaError:  # there are more states than a formula can name
        return regime


def _is_of_one_call(regime: Regime, other: Regime) -> bool:
    """Whether both speak of calls in one place of a scenario, given the same, in models built alike."""
    same = (regime.scenario, regime.context) == (other.scenario, other.context)
    told = [(set(one.given), set(_assumed(one))) for one in (regime, other)]
    return same and told[0] == told[1]


def _assumed(regime: Regime) -> Iterator[str]:
    """What says which call it is; entries of before name no line, and routing where no number hangs on it."""
    for text in regime.assumptions:
        if not text.startswith(ROUTED):
            yield unplaced(text)


def _gives(one: StoredRegime, point: ProofPoint) -> bool:
    formulas = one.formulas
    return all(
        predict(formulas[name], point.sizes) == number
        for name, number in point.measured.items()
        if name in formulas
    )


def _points(entry: Entry) -> Iterator[tuple[Regime, ProofPoint]]:
    for regime in entry.regimes:
        for point in regime.points:
            yield regime, point


def _places(regime: Regime) -> tuple[str, ...]:
    return regime.places or (regime.context,)


def _formats(regimes: Iterable[Regime]) -> set[tuple[str, str]]:
    """The scenarios and the formats of numbers in which each was measured."""
    proofs = ((one.scenario, one.proof.dtype) for one in regimes if one.proof is not None)
    return {(scenario, name.strip()) for scenario, dtypes in proofs for name in dtypes.split(",")}


def _pinned(regime: Regime) -> list[str]:
    """Conditions that leave a size one value, which is not one: that of a batch is no wonder."""
    found = ((text, _PINNED.fullmatch(text)) for text in regime.conditions)
    return [text for text, it in found if it and it[2] != "1" and not it[1].endswith("dtype_bytes")]

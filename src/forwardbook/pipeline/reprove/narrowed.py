"""What regimes were found to need, to lack, and where they were found to be; their entries with that said."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from forwardbook.formula import Condition, parse
from forwardbook.pipeline.derivation.places import at_places
from forwardbook.pipeline.reprove.again import EntryAgain, RegimeAgain
from forwardbook.pipeline.reprove.joined import with_states
from forwardbook.pipeline.reprove.stored_regimes import is_left_by_proof
from forwardbook.schema import Entry, ProofPoint, Regime
from forwardbook.workspace import Database


def narrowed(found: Iterable[EntryAgain], database: Database) -> dict[str, Entry]:
    """The entries that change, by key; what a copy needs its holder says, where it was proved so."""
    told: dict[str, dict[str, list[RegimeAgain]]] = {}
    for one in found:
        key = database.head(one.key).same_as or one.key
        for regime in (regime for regime in one.regimes if regime.needs or regime.places or regime.states):
            told.setdefault(key, {}).setdefault(regime.name, []).append(regime)
    entries = {key: _with(database[key], said) for key, said in told.items()}
    return {key: entry for key, entry in entries.items() if entry != database[key]}


def _with(entry: Entry, told: dict[str, list[RegimeAgain]]) -> Entry:
    regimes = tuple(_saying(one, told.get(one.name, ())) for one in entry.regimes)
    return entry.model_copy(update={"regimes": regimes})


def _saying(regime: Regime, found: Sequence[RegimeAgain]) -> Regime:
    needs = [Condition.parse(text) for text in dict.fromkeys(text for one in found for text in one.needs)]
    every = (point for one in found for point in one.proved)
    more = [point for point in every if all(c.is_met(point.sizes) for c in needs)]
    for needed in needs:
        if is_left_by_proof(needed, regime):
            regime = _needing(regime, needed)
        elif is_left_by_proof(needed, regime, more):
            regime = _needing(proved_at(regime, more), needed)
    states = dict.fromkeys(text for one in found for text in one.states)
    if states:
        regime = proved_at(with_states(regime, map(parse, states)), more)
    places = dict.fromkeys(place for one in found for place in one.places)
    return at_places(regime, places) if places else regime


def proved_at(regime: Regime, more: Sequence[ProofPoint]) -> Regime:
    """The regime with more points in its proof, each once; it must have one."""
    assert regime.proof is not None  # what has none is left by none
    points = tuple({repr(point.sizes): point for point in (*regime.proof.points, *more)}.values())
    return regime.model_copy(update={"proof": regime.proof.model_copy(update={"points": points})})


def _needing(regime: Regime, needed: Condition) -> Regime:
    """A regime with a condition, proved at those of its points that meet it."""
    proof = regime.proof
    if proof is not None:
        inside = tuple(point for point in proof.points if needed.is_met(point.sizes))
        proof = proof.model_copy(update={"points": inside})
    conditions = tuple(dict.fromkeys((*regime.conditions, needed.text())))
    return regime.model_copy(update={"conditions": conditions, "proof": proof})

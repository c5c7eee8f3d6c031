"""What regimes were found to need in; their entries with these conditions out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from forwardbook.formula import Condition
from forwardbook.pipeline.reprove.again import EntryAgain
from forwardbook.pipeline.reprove.stored_regimes import met_in_proof
from forwardbook.schema import Entry, Regime
from forwardbook.workspace import Database


def narrowed(found: Iterable[EntryAgain], database: Database) -> dict[str, Entry]:
    """The entries that change, by key; what a copy needs its holder says, where it was proved so."""
    needs: dict[str, dict[str, list[str]]] = {}
    for one in found:
        key = database.head(one.key).same_as or one.key
        for regime in (regime for regime in one.regimes if regime.needs):
            needs.setdefault(key, {}).setdefault(regime.name, []).extend(regime.needs)
    entries = {key: _with(database[key], said) for key, said in needs.items()}
    return {key: entry for key, entry in entries.items() if entry != database[key]}


def _with(entry: Entry, needs: dict[str, list[str]]) -> Entry:
    regimes = tuple(_saying(one, needs.get(one.name, ())) for one in entry.regimes)
    return entry.model_copy(update={"regimes": regimes})


def _saying(regime: Regime, texts: Sequence[str]) -> Regime:
    fitting = [text for text in texts if met_in_proof(Condition.parse(text), regime)]
    return regime.model_copy(update={"conditions": tuple(dict.fromkeys((*regime.conditions, *fitting)))})

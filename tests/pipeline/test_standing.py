"""What is stored stays where what was derived anew is refuted by its proof, says less, or is not there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from forwardbook.formula import Expr
from forwardbook.pipeline.catalogue.build import Building, build
from forwardbook.pipeline.catalogue.merge import merge
from forwardbook.pipeline.catalogue.plan import planned
from forwardbook.pipeline.catalogue.record import (
    Catalogue,
    ClassResult,
    LibraryRecord,
    UnitRecord,
    UnitResult,
    read_catalogue,
)
from forwardbook.pipeline.catalogue.settle import Settled, settled
from forwardbook.pipeline.catalogue.standing import joined, missed, says_less
from forwardbook.pipeline.reprove.again import EntryAgain, RegimeAgain, State
from forwardbook.pipeline.reprove.joined import states_named
from forwardbook.pipeline.reprove.recorded import work
from forwardbook.saying import CALLED_AS
from forwardbook.schema import Entry
from forwardbook.workspace import Database, Workspace

from .reproofs import again
from .test_retries import Hurried
from .zoo import Child, Make, built

SHIPPED = Workspace(Path(__file__).resolve().parent.parent.parent).load()
KEY = "transformers_OPTDecoderLayer"
LAYER = SHIPPED[KEY]
FEED_FORWARD = 3  # the place among the states of the peak of that which is largest as a model has its sizes


def with_regime(entry: Entry, **changed: object) -> Entry:
    """The entry with its one regime changed."""
    [regime] = entry.regimes
    return entry.model_copy(update={"regimes": (regime.model_copy(update=changed),)})


def lacking(entry: Entry, place: int) -> Entry:
    """The entry with a peak that has a state less."""
    [regime] = entry.regimes
    states = states_named(regime)
    peak = Expr.maximum(*states[:place], *states[place + 1 :]).text()
    return with_regime(entry, memory_analysis=regime.memory_analysis.model_copy(update={"peak": peak}))


def doubled(entry: Entry) -> Entry:
    """The entry with twice as many operations in total."""
    [regime] = entry.regimes
    flops = regime.flop_analysis.model_copy(update={"flops": f"2*({regime.formula('flops')})"})
    return with_regime(entry, flop_analysis=flops)


def test_an_entry_misses_the_points_that_refute_it() -> None:
    """All of a proof where a total is wrong, those where the state is the largest that a peak lacks."""
    [regime] = LAYER.regimes
    assert regime.proof is not None

    assert [] == missed(LAYER, LAYER)
    assert list(regime.proof.points) == missed(doubled(LAYER), LAYER)
    assert 0 < len(missed(lacking(LAYER, FEED_FORWARD), LAYER)) <= len(regime.proof.points)


def test_what_is_given_otherwise_is_not_held_against_a_proof() -> None:
    """A call with other assumptions, in another place or scenario, may cost something else."""
    assert [] == missed(with_regime(doubled(LAYER), assumptions=("built with x=True",)), LAYER)
    assert [] == missed(with_regime(doubled(LAYER), context=f"{CALLED_AS}elsewhere"), LAYER)
    assert [] == missed(with_regime(doubled(LAYER), name="decode"), LAYER)


def test_a_peak_takes_up_the_state_that_a_proof_shows() -> None:
    """It is right at all points of both proofs then; the point that showed it is among its own."""
    found = joined(lacking(LAYER, FEED_FORWARD), LAYER)
    assert found is not None
    [regime], [shipped] = found.regimes, LAYER.regimes

    assert set(states_named(shipped)) == set(states_named(regime))
    assert [] == missed(found, LAYER)


def test_what_is_wrong_in_more_than_its_peak_takes_up_nothing() -> None:
    """No state of live storage mends a number of operations."""
    assert joined(doubled(lacking(LAYER, FEED_FORWARD)), LAYER) is None
    assert joined(LAYER, LAYER) is None


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"context": f"{CALLED_AS}model.other.*"}, "says nothing of calls at"),
        ({"conditions": ("{seq_len} == 7",)}, "speaks of {seq_len} == 7 alone"),
    ],
)
def test_what_an_entry_does_not_say_is_told(changed: dict[str, object], said: str) -> None:
    """A place that it is not of, a size that it leaves one value."""
    assert says_less(with_regime(LAYER, **changed), LAYER).startswith(said)
    assert says_less(LAYER, LAYER) == ""


def test_a_number_format_that_was_not_measured_is_told() -> None:
    """What is proved in float32 alone says less than what is proved in both."""
    [regime] = LAYER.regimes
    assert regime.proof is not None
    proof = regime.proof.model_copy(update={"dtype": "float32"})

    assert says_less(with_regime(LAYER, proof=proof), LAYER).startswith("is not proved in bfloat16")
    assert "" == says_less(LAYER, with_regime(LAYER, proof=proof))


def settle(fresh: Entry | None, state: State) -> Settled:
    """What becomes of the stored layer and what was derived anew, where measurement says so of the first."""
    name, unit = LAYER.full_class_name, "transformers.models.opt"
    stored = ClassResult(name=name, state="exact", way="as it was stored", digest="x")
    record = LibraryRecord(units={unit: UnitRecord(stamp="s", classes=(stored,))})
    now = ClassResult(name=name, state="exact", way="anew") if fresh is not None else stored
    result = UnitResult(
        unit=unit,
        library="transformers",
        record=UnitRecord(stamp="s", classes=(now,)),
        entries={name: fresh.model_dump(mode="json")} if fresh is not None else {},
        stands=() if fresh is not None else (name,),
    )

    def measured(keys: Sequence[str]) -> list[EntryAgain]:
        assert list(keys) == [KEY]
        regime = RegimeAgain(name="forward", state=state)
        return [EntryAgain(key=KEY, full_class_name=name, regimes=(regime,))]

    database = Database({}).with_entries({KEY: LAYER})
    catalogue = Catalogue(libraries={"transformers": record})
    return settled([result], "transformers", database, catalogue, lambda keys: iter(measured(keys)))


def test_a_proof_of_which_there_is_nothing_new_stays_where_it_holds() -> None:
    """And where nothing could be measured; where it gives other numbers it is refuted by now."""
    held, unknown, stale = (settle(None, state) for state in ("equal", "unmeasured", "different"))
    name = LAYER.full_class_name

    assert [name] == list(held.stay) == list(unknown.stay)
    assert "exact" == held.results[0].record.classes[0].state
    assert [name] == stale.gone
    assert ("wrong", "refuted") == (
        stale.results[0].record.classes[0].state,
        stale.results[0].record.classes[0].kind,
    )


def test_what_a_proof_that_holds_refutes_is_not_taken() -> None:
    """The entry that is stored stays, with all that the catalogue said of it; a stale one goes."""
    held, stale = settle(doubled(LAYER), "equal"), settle(doubled(LAYER), "different")

    assert {} == held.results[0].entries
    assert "as it was stored" == held.results[0].record.classes[0].way
    assert "is wrong at" in held.stay[LAYER.full_class_name]
    assert doubled(LAYER) == Entry.model_validate(stale.results[0].entries[LAYER.full_class_name])


def test_what_lacks_a_state_takes_it_from_the_proof() -> None:
    """The new entry is taken, with a peak that is right at the points of both."""
    found = settle(lacking(LAYER, FEED_FORWARD), "equal")
    entry = Entry.model_validate(found.results[0].entries[LAYER.full_class_name])

    assert [LAYER.full_class_name] == found.joined
    assert [] == missed(entry, LAYER)


def test_a_stored_entry_is_measured_at_the_points_of_its_proof() -> None:
    """There it gives what was measured; what is wrong by now is found where it was proved."""
    right, wrong = again(LAYER, worker=work), again(doubled(LAYER), worker=work)
    [regime], [proof] = right.regimes, [one.proof for one in LAYER.regimes]
    assert proof is not None

    assert ("equal", "different") == (right.state, wrong.state)
    assert any(regime.sizes.items() <= point.sizes.items() for point in proof.points)


def test_a_try_that_proves_less_takes_no_proof_away(zoo: Path, make_entry: Make) -> None:
    """A class for which time does not suffice this time is named, and stays as it is stored."""
    plan, workspace = planned("zoo_of_parts", "*ant*"), Workspace(zoo)
    built(zoo, Child(make_entry), plan)
    done = list(build(plan, workspace, Building(run=Hurried(make_entry), force=True)))
    results = [one.result for one in done]
    [name] = results[0].stands
    merge(plan, results, workspace, whole=False)
    classes = read_catalogue(workspace).libraries["zoo_of_parts"].units[results[0].unit].classes

    assert "exact" == next(one.state for one in classes if one.name == name)
    assert name in workspace.load().keys_by_class()

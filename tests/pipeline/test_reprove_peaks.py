"""A peak that lacks a state of live storage is given it, if a run where that is the largest has it."""

from __future__ import annotations

from pathlib import Path

from forwardbook.formula import Expr, parse
from forwardbook.pipeline.reprove.joined import states_named, with_states
from forwardbook.pipeline.reprove.lacking import work
from forwardbook.pipeline.reprove.narrowed import narrowed
from forwardbook.schema import Entry, Regime
from forwardbook.workspace import Database, Workspace

from .reproofs import again

SHIPPED = Workspace(Path(__file__).resolve().parent.parent.parent).load()
LAYER = "transformers_OPTDecoderLayer"


def lacking(regime: Regime, place: int) -> Regime:
    """A regime whose peak has a state less."""
    states = states_named(regime)
    peak = Expr.maximum(*states[:place], *states[place + 1 :]).text()
    memory = regime.memory_analysis.model_copy(update={"peak": peak})
    return regime.model_copy(update={"memory_analysis": memory})


def of_layer(place: int) -> tuple[Entry, Regime]:
    """A layer whose peak lacks one of its states, and its regime as it is shipped."""
    entry = SHIPPED[LAYER]
    [regime] = entry.regimes
    return entry.model_copy(update={"regimes": (lacking(regime, place),)}), regime


def test_a_state_that_a_peak_lacks_joins_it() -> None:
    """That of the attention, above that of the feed-forward where this is narrow: the peak is what it was."""
    before, shipped = of_layer(1)
    found = again(before, worker=work)
    [entry] = narrowed([found], Database({}).with_entries({found.key: before})).values()
    [regime] = entry.regimes

    assert "equal" == found.state
    assert set(states_named(shipped)) == set(states_named(regime))
    assert "largest of 6 states" in regime.memory_analysis.reasoning


def test_its_proof_is_given_points_where_the_state_is_the_largest() -> None:
    """What was measured there is above all that the peak named before."""
    before, shipped = of_layer(1)
    [found] = again(before, worker=work).regimes
    [state] = map(parse, found.states)
    others = [one for one in states_named(shipped) if one != state]

    assert found.proved
    for point in found.proved:
        assert point.measured["peak"] == state.evaluate(point.sizes)
        assert point.measured["peak"] > max(one.evaluate(point.sizes) for one in others)


def test_a_state_that_is_the_largest_nowhere_is_not_missed() -> None:
    """Two norms of a layer hold less than its attention, whose width is that of its words."""
    before, _ = of_layer(0)

    assert () == again(before, worker=work).regimes[0].states


def test_a_peak_that_is_wrong_at_the_sizes_of_its_model_is_wrong() -> None:
    """There the feed-forward is the largest: no state is looked for where another number is measured."""
    assert "different" == again(of_layer(3)[0], worker=work).state


def test_a_peak_that_has_all_its_states_gains_none() -> None:
    """As it is shipped it is equal, and nothing changes."""
    found = again(SHIPPED[LAYER], worker=work)

    assert ("equal", ()) == (found.state, found.regimes[0].states)
    assert {} == narrowed([found], Database({}).with_entries({found.key: SHIPPED[LAYER]}))


def test_a_peak_that_cannot_be_mended_is_wrong() -> None:
    """A state of a size of which the entry says nothing is not added: both numbers are told instead."""
    before, shipped = of_layer(1)
    names = states_named(shipped)[1].symbols()
    entry = before.model_copy(
        update={"parameters": tuple(one for one in before.parameters if one.name not in names)}
    )
    found = again(entry, worker=work)

    assert "different" == found.state
    assert found.regimes[0].differences[0].startswith("total, peak: stored ")


def test_states_join_as_they_are_written() -> None:
    """A state that is there already changes nothing."""
    [regime] = SHIPPED[LAYER].regimes

    assert states_named(regime) == states_named(with_states(regime, states_named(regime)[:2]))


def test_a_peak_that_names_a_state_of_no_run_is_wrong() -> None:
    """It is too large where that would be the largest, with heads of two or three numbers."""
    entry = SHIPPED[LAYER]
    [regime] = entry.regimes
    state = parse("20 * {batch_size} * {seq_len} * {num_attention_heads} * {a_dtype_bytes}")
    more = with_states(regime, [state])
    found = again(entry.model_copy(update={"regimes": (more,)}), worker=work)

    assert "different" == found.state
    assert found.regimes[0].differences[0].startswith("total, peak: stored ")

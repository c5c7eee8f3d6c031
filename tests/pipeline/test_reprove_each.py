"""Near a model's own sizes each size of its inputs is changed alone, and counts of layers are few."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from forwardbook.formula import Condition
from forwardbook.pipeline.reprove.bounds import bound
from forwardbook.pipeline.reprove.each import work
from forwardbook.pipeline.reprove.narrowed import narrowed
from forwardbook.pipeline.reprove.stored_regimes import is_left_by_proof
from forwardbook.schema import Entry
from forwardbook.workspace import Database, Workspace

from .reproofs import again

SHIPPED = Workspace(Path(__file__).resolve().parent.parent.parent).load()


@pytest.mark.parametrize("key", ["torch_Linear", "torch_GRU", "transformers_EdgeTamFeedForward"])
def test_right_formulas_are_equal_beside_the_sizes_of_a_model(key: str) -> None:
    """Each regime gives every number, at more than one point."""
    found = again(SHIPPED[key], worker=work)

    assert "equal" == found.state
    assert all(one.points > 1 for one in found.regimes)


def test_a_formula_that_names_no_batch_is_named() -> None:
    """Right for the batch that it was made of, and for no other."""
    entry = SHIPPED["torch_Linear"]
    regime = entry.regimes[0]
    product = "2 * {in_features} * {out_features} * min({batch_size}, 3)"
    flops = regime.flop_analysis.model_copy(update={"flops": product})
    wrong = regime.model_copy(update={"flop_analysis": flops})

    assert "different" == again(entry.model_copy(update={"regimes": (wrong,)}), worker=work).state


def open_to_two() -> Entry:
    """A feedforward of which nothing says that it has three layers, proved where two agreed by chance."""
    entry = SHIPPED["transformers_EdgeTamFeedForward"]
    [regime] = entry.regimes
    assert regime.proof is not None
    chance = [p.model_copy(update={"sizes": {**p.sizes, "num_layers": 2}}) for p in regime.proof.points]
    proof = regime.proof.model_copy(update={"points": tuple(chance)})
    told = {"conditions": ("{num_layers} > 1",), "proof": proof}
    return entry.model_copy(update={"regimes": (regime.model_copy(update=told),)})


def test_a_peak_that_only_more_layers_have_bounds_their_count() -> None:
    """A feedforward of two layers has no state of three matrices."""
    [found] = again(open_to_two(), worker=work).regimes

    assert ("equal", ("{num_layers} >= 3",)) == (found.state, found.needs)


def test_what_is_left_of_a_proof_by_no_bound_is_proved_anew_within_it() -> None:
    """As many points as a proof has in each number format, each of them measured where the bound holds."""
    found = again(open_to_two(), worker=work)
    database = Database({}).with_entries({found.key: open_to_two()})
    [entry] = narrowed([found], database).values()
    [regime] = entry.regimes
    assert regime.proof is not None

    assert "{num_layers} >= 3" in regime.conditions
    assert {4: 3, 2: 3} == Counter(point.sizes["a_dtype_bytes"] for point in regime.proof.points)
    assert all(point.sizes["num_layers"] >= 3 for point in regime.proof.points)


@pytest.mark.slow
def test_sizes_of_which_no_regime_speaks_are_not_held_against_few_layers() -> None:
    """A last stage of 13 by 13 pads its windows of 11, with one block as with two; one block shifts none."""
    assert "equal" == again(SHIPPED["transformers_SwinAttention"], worker=work).state


@pytest.mark.parametrize(
    ("good", "bad", "text"),
    [(6, 3, "{every} >= 5"), (6, 7, "{every} <= 6"), (6, 60, "{every} <= 28"), (6, 5, "{every} >= 6")],
)
def test_a_bound_is_the_last_size_that_fits(good: int, bad: int, text: str) -> None:
    """On the way from one that does to one that does not, whichever is the larger."""
    limit = {3: range(5, 99), 7: range(7), 60: range(29), 5: range(6, 99)}[bad]

    assert text == bound("every", good, bad, limit.__contains__).text()


def test_a_field_that_says_which_layer_is_the_last_of_a_kind_bounds_how_many_there_are() -> None:
    """ERNIE's experts end with layer 27, a number of its config: beyond that layers are of another kind."""
    entry = SHIPPED["transformers_Ernie4_5_MoeModel"]
    kept = {one.name: tuple(c for c in one.conditions if "28" not in c) for one in entry.regimes[:1]}
    open_to_all = [one.model_copy(update={"conditions": kept[one.name]}) for one in entry.regimes[:1]]
    [found] = again(entry.model_copy(update={"regimes": tuple(open_to_all)}), worker=work).regimes

    assert ("equal", ("{num_hidden_layers} <= 28",)) == (found.state, found.needs)


def test_a_bound_takes_out_of_a_proof_what_agreed_by_chance() -> None:
    """The peak of another state hid a single head at one of four points: three others are a proof."""
    regime = SHIPPED["torch_Linear"].regimes[0]
    proof = regime.proof
    assert proof is not None
    sizes = {"in_features": 8, "a_dtype_bytes": 4}
    points = [proof.points[0].model_copy(update={"sizes": {**sizes, "batch_size": n}}) for n in (1, 2, 3, 5)]
    chance = regime.model_copy(update={"proof": proof.model_copy(update={"points": tuple(points)})})

    above, far = Condition.parse("{batch_size} >= 2"), Condition.parse("{batch_size} >= 3")
    assert is_left_by_proof(above, chance)
    assert not is_left_by_proof(far, chance)

"""Two stores are compared by what their formulas give, not by how these are written."""

from __future__ import annotations

import pytest

from forwardbook.entries.cost_model import CostModel
from forwardbook.entries.difference import Difference, diff
from forwardbook.entries.record import Entry

from .examples import ATTENTION, LINEAR, TOY

LINEAR_KEY, ATTENTION_KEY = "torch_Linear", "transformers_ToyAttention"


def told(**changed: Entry) -> dict[str, Difference]:
    """The differences by key between the toy model and one with changed entries."""
    return {one.key: one for one in diff(CostModel(TOY), CostModel(TOY | changed))}


def with_own(entry: Entry, **formulas: object) -> Entry:
    """An entry whose first regime has other own formulas."""
    first, *others = entry.regimes
    first = first.model_copy(update={"own": first.own.model_copy(update=formulas)})
    return entry.model_copy(update={"regimes": (first, *others)})


def test_a_store_does_not_differ_from_itself_nor_from_other_words_for_the_same() -> None:
    assert {} == told()
    again = with_own(LINEAR, flops="{rows} * ({in_features} + {in_features}) * {out_features}")
    assert {} == told(torch_Linear=again)


def test_a_change_shows_in_the_class_and_in_all_that_call_it() -> None:
    found = told(torch_Linear=with_own(LINEAR, flops="4 * {rows} * {in_features} * {out_features}"))
    assert TOY.keys() - {"torch_SiLU"} == found.keys()
    assert [LINEAR_KEY] == [key for key, one in found.items() if one.is_own]
    assert {"changed"} == {one.kind for one in found.values()}
    before, after = found["transformers_ToyMLP"].amounts["flops"]
    assert 2 * before == after
    sizes, amounts = found[LINEAR_KEY].sizes, found[LINEAR_KEY].amounts
    assert 4 * sizes["rows"] * sizes["in_features"] * sizes["out_features"] == amounts["flops"][1]
    assert {"flops"} == amounts.keys()


def test_a_change_in_a_regime_of_one_number_is_found() -> None:
    second = ATTENTION.regimes[1]
    own = second.own.model_copy(update={"pointwise_ops": "1"})
    changed = (ATTENTION.regimes[0], second.model_copy(update={"own": own}))
    found = told(transformers_ToyAttention=ATTENTION.model_copy(update={"regimes": changed}))
    assert 1 == found[ATTENTION_KEY].sizes["seq_len"]


def test_what_is_refused_by_now_and_what_is_new_are_told() -> None:
    found = told(
        transformers_ToyAttention=ATTENTION.model_copy(update={"regimes": ATTENTION.regimes[:1]}),
        x_New=LINEAR,
    )
    assert ("refused", 1) == (found[ATTENTION_KEY].kind, found[ATTENTION_KEY].sizes["seq_len"])
    assert "added" == found["x_New"].kind
    missing = CostModel({key: entry for key, entry in TOY.items() if key != "torch_SiLU"})
    found = {one.key: one for one in diff(CostModel(TOY), missing)}
    assert ("removed", "refused") == (found["torch_SiLU"].kind, found["transformers_ToyMLP"].kind)
    assert "torch_SiLU: it is not in the database" in found["transformers_ToyMLP"].reason


@pytest.mark.parametrize("condition", ["{rows} > 100000", "{rows} == 2 * {rows}"])
def test_what_holds_at_no_point_is_not_taken_for_equal(condition: str) -> None:
    regime = LINEAR.regimes[0].model_copy(update={"conditions": (condition,)})
    model = CostModel({LINEAR_KEY: LINEAR.model_copy(update={"regimes": (regime,)})})
    assert ["untried"] == [one.kind for one in diff(model, model)]

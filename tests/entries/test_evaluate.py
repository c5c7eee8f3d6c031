"""Walking the calls of the toy model gives what running its code by number gives, and refusals say why."""

from __future__ import annotations

import time
from dataclasses import asdict

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forwardbook.entries.cost_model import CostModel
from forwardbook.entries.record import Call, Entry, Own
from forwardbook.entries.refusal import OutsideRegimes
from forwardbook.entries.regimes import EntryError
from forwardbook.entries.sweep import sweep

from .examples import ATTENTION, LINEAR, MODEL_SIZES, TOY, call, entry, regime, truth

MODEL = CostModel(TOY)
small = st.integers(1, 40)
points = st.builds(
    lambda dim, **sizes: {**sizes, "hidden_size": sizes["num_heads"] * dim},
    dim=small,
    **{name: small for name in MODEL_SIZES if name not in ("hidden_size", "num_hidden_layers")},
    num_hidden_layers=st.integers(0, 5),
)


def costs(model: CostModel, name: str, sizes: dict[str, int]) -> dict[str, int]:
    """The eight quantities without the regime that gave them."""
    found = asdict(model.evaluate(name, sizes).costs)
    return {name: value for name, value in found.items() if name != "regime"}


@settings(max_examples=60)
@given(sizes=points)
def test_every_class_costs_what_running_it_by_number_counts(sizes: dict[str, int]) -> None:
    for key, expected in truth(sizes).items():
        at = sizes
        if key == "torch_Linear":
            at = {"rows": sizes["batch_size"] * sizes["seq_len"], "in_features": sizes["hidden_size"]}
            at |= {"out_features": sizes["intermediate_size"], "a_dtype_bytes": sizes["a_dtype_bytes"]}
            at |= {"w_dtype_bytes": sizes["w_dtype_bytes"]}
        names = {*MODEL.regimes.signature(key, "default").names}
        assert expected == costs(MODEL, key, {name: size for name, size in at.items() if name in names})


def test_the_regime_is_the_one_whose_conditions_hold() -> None:
    assert "one token" == MODEL.evaluate("ToyAttention", _attention(seq_len=1)).costs.regime
    assert "default" == MODEL.evaluate("ToyAttention", _attention(seq_len=2)).costs.regime


def test_a_class_is_found_by_key_full_name_and_the_end_of_it() -> None:
    names = (
        "transformers_ToyMLP",
        "transformers.models.toy.modeling_toy.ToyMLP",
        "modeling_toy.ToyMLP",
        "ToyMLP",
    )
    assert ["transformers_ToyMLP"] * 4 == [MODEL.find(name) for name in names]
    with pytest.raises(EntryError, match="did you mean ToyMLP"):
        MODEL.find("ToyMLQ")


def test_a_name_of_no_formula_is_refused_with_the_near_one() -> None:
    with pytest.raises(EntryError, match="seq_length: did you mean seq_len"):
        MODEL.evaluate("ToyMLP", {"seq_length": 3})


def test_a_refusal_says_which_definition_and_condition_fail_and_what_the_nearest_demands() -> None:
    with pytest.raises(OutsideRegimes) as caught:
        MODEL.evaluate("ToyAttention", _attention(seq_len=3, hidden_size=33))
    said = "hidden_size is num_heads * head_dim, but hidden_size = 33 is no multiple of num_heads = 4"
    assert [said] == caught.value.reasons["default"]
    with pytest.raises(OutsideRegimes, match="one token: seq_len must be 1, but is 3") as caught:
        CostModel(TOY | {"transformers_ToyAttention": _only("one token")}).evaluate(
            "ToyAttention", _attention(seq_len=3)
        )
    assert "holds where hidden_size = num_heads * head_dim, seq_len == 1" in str(caught.value)


def test_a_refusal_of_a_called_class_names_the_call_and_its_reason() -> None:
    model = CostModel(TOY | {"transformers_ToyAttention": _only("one token")})
    with pytest.raises(OutsideRegimes) as caught:
        model.evaluate("ToyModel", MODEL_SIZES)
    said = str(caught.value)
    layer = "in transformers_ToyDecoderLayer (self.layers.*, line 64): "
    attention = "in transformers_ToyAttention (self.self_attn, line 43): "
    assert f"default: {layer}{attention}seq_len must be 1, but is 16" in said


def test_calls_that_are_made_no_time_are_not_looked_at() -> None:
    model = CostModel(TOY | {"transformers_ToyAttention": _only("one token")})
    assert 0 == model.evaluate("ToyModel", MODEL_SIZES | {"num_hidden_layers": 0}).costs.flops


def test_missing_sizes_are_named_and_defaults_used_only_where_asked() -> None:
    sizes = {name: size for name, size in MODEL_SIZES.items() if name != "num_hidden_layers"}
    with pytest.raises(OutsideRegimes, match="num_hidden_layers is not given"):
        MODEL.evaluate("ToyModel", sizes)
    found = MODEL.evaluate("ToyModel", sizes, use_defaults=True)
    assert found.costs == MODEL.evaluate("ToyModel", sizes | {"num_hidden_layers": 2}).costs


def test_a_size_of_none_is_refused() -> None:
    with pytest.raises(OutsideRegimes, match="batch_size must be at least 1, but is 0"):
        MODEL.evaluate("ToyModel", MODEL_SIZES | {"batch_size": 0})


def test_choices_and_names_of_sizes_tell_signatures_apart() -> None:
    dense = regime(Own(flops="{n}"), choices={"dense": True})
    cached = regime(Own(flops="{n} * {kv_len}"), signature="cache", choices={"dense": False})
    model = CostModel({"x_Two": entry("x.y.Two", (), dense, cached)})
    assert 2 == model.evaluate("Two", {"n": 2}).costs.flops
    assert 6 == model.evaluate("Two", {"n": 2, "kv_len": 3}).costs.flops
    assert 6 == model.evaluate("Two", {"n": 2, "kv_len": 3}, choices={"dense": False}).costs.flops
    with pytest.raises(EntryError, match="no signature has dense=3; there are dense=False, dense=True"):
        model.evaluate("Two", {"n": 2}, choices={"dense": 3})
    with pytest.raises(EntryError, match="no size kv_len"):
        model.evaluate("Two", {"n": 2, "kv_len": 3}, "default")


def test_equal_code_has_the_costs_of_its_holder() -> None:
    same = LINEAR.model_copy(update={"same_as": "torch_Linear", "regimes": ()})
    model = CostModel(TOY | {"x_Linear": same})
    sizes = {"rows": 2, "in_features": 3, "out_features": 5, "a_dtype_bytes": 1, "w_dtype_bytes": 1}
    assert 60 == model.evaluate("x_Linear", sizes).costs.flops


def test_a_damaged_store_is_refused_in_words() -> None:
    back = LINEAR.model_copy(update={"same_as": "x_Two"})
    for entries, said in (
        ({"x_A": _calling("x_B")}, "looking for the entry x_B: it is not in the database"),
        ({"x_A": _calling("x_A")}, "calls itself with the same sizes"),
        ({"x_A": _calling("x_A", n="{n} + 1")}, "over 100 calls lie within each other"),
        ({"x_A": _calling("x_A", n="{n} * {n}")}, "a size is 2\\*\\*63 or larger"),
        ({"x_A": back, "x_Two": back}, "same_as leads back"),
        ({"x_A": _calling("x_A", n="{n} +")}, "reading regime 'default' of the entry x_A"),
    ):
        with pytest.raises(EntryError, match=said):
            CostModel(entries).evaluate("x_A", {"n": 3})


def test_calls_that_would_double_at_each_level_end_quickly(a_second: float) -> None:
    def level(place: int) -> Entry:
        calls = [_call(f"x_{place + 1}", n=f"2 * {{n}} + {one}") for one in (0, 1)]
        return entry("x.y.Z", (), regime(Own(flops="{n}"), tuple(calls)))

    model = CostModel(
        {f"x_{place}": level(place) for place in range(40)}
        | {"x_40": entry("x.y.Z", (), regime(Own(flops="{n}")))}
    )
    begun = time.process_time()
    with pytest.raises(EntryError, match="it takes over 100,000 calls"):
        model.evaluate("x_0", {"n": 1})
    assert time.process_time() - begun < 5 * a_second


def test_equal_calls_are_evaluated_once(a_second: float) -> None:
    def level(place: int) -> Entry:
        calls = [_call(f"x_{place + 1}", n="{n}") for _ in range(2)]
        return entry("x.y.Z", (), regime(Own(flops="{n}"), tuple(calls)))

    levels = {f"x_{place}": level(place) for place in range(60)}
    model = CostModel(levels | {"x_60": entry("x.y.Z", (), regime(Own(flops="{n}")))})
    begun = time.process_time()
    assert 7 * (2**61 - 1) == model.evaluate("x_0", {"n": 7}).costs.flops
    assert time.process_time() - begun < a_second


def test_a_sweep_is_the_evaluation_at_each_of_its_points() -> None:
    lengths, batches = numpy.array([1, 5, 40]), numpy.array([[1], [3]])
    found = sweep(MODEL, "ToyModel", MODEL_SIZES | {"seq_len": lengths, "batch_size": batches})
    for row, batch in enumerate((1, 3)):
        for column, length in enumerate((1, 5, 40)):
            at = costs(MODEL, "ToyModel", MODEL_SIZES | {"seq_len": length, "batch_size": batch})
            assert at == {name: int(values[row, column]) for name, values in found.items()}


def test_a_sweep_beyond_64_bits_is_exact() -> None:
    sizes = {"elements": numpy.array([2**62, 3]), "a_dtype_bytes": 4}
    assert [2**64, 12] == list(sweep(MODEL, "SiLU", sizes)["reads"])


def test_a_thousand_points_of_a_model_of_32_layers_take_less_than_a_second(a_second: float) -> None:
    sizes = MODEL_SIZES | {"num_hidden_layers": 32, "seq_len": numpy.arange(1, 1001)}
    begun = time.process_time()
    sweep(CostModel(TOY), "ToyModel", sizes)
    assert time.process_time() - begun < a_second


def _attention(**sizes: int) -> dict[str, int]:
    usual = {"batch_size": 2, "num_heads": 4, "hidden_size": 32, "a_dtype_bytes": 2, "w_dtype_bytes": 2}
    return usual | sizes


def _only(name: str) -> Entry:
    return ATTENTION.model_copy(
        update={"regimes": tuple(one for one in ATTENTION.regimes if one.name == name)}
    )


def _call(key: str, **bindings: str) -> Call:
    return call(3, "inner", key, "0", **bindings)


def _calling(key: str, **bindings: str) -> Entry:
    return entry("x.y.A", (), regime(Own(flops="{n}"), (_call(key, **({"n": "{n}"} | bindings)),)))

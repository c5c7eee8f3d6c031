"""Closed forms have the values that walking the calls has, wherever they say that they hold."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings

from forwardbook.entries.closed import Closed, short
from forwardbook.entries.cost_model import CostModel
from forwardbook.entries.record import Call, Entry, Name, Own
from forwardbook.formula import parse
from forwardbook.schema import QUANTITIES

from .examples import TOY, call, entry, regime
from .test_evaluate import points

MODEL = CostModel(TOY)


def forms(key: str, name: str = "default", model: CostModel = MODEL) -> Closed:
    """The closed forms of a regime of the usual signature."""
    return model.closed(key, regime=name)


@settings(max_examples=60, deadline=None)
@given(sizes=points)
def test_every_class_has_closed_forms_with_the_values_of_a_walk(sizes: dict[str, int]) -> None:
    for key in (
        "transformers_ToyMLP",
        "transformers_ToyAttention",
        "transformers_ToyDecoderLayer",
        "transformers_ToyModel",
    ):
        names = MODEL.regimes.signature(key, "default").names
        found = MODEL.evaluate(key, {name: size for name, size in sizes.items() if name in names})
        form = forms(key, found.costs.regime)
        assert {*QUANTITIES} == form.formulas.keys()
        several = sizes["seq_len"] > 1 and sizes["num_hidden_layers"] > 0
        assert all(one.holds(found.sizes) for one in form.conditions) or not several
        if all(one.holds(found.sizes) for one in form.conditions):
            for quantity, value in form.formulas.items():
                assert getattr(found.costs, quantity) == value.evaluate(found.sizes)


def test_closed_forms_are_as_a_person_writes_them() -> None:
    rows, heads = "{batch_size} * {seq_len}", {"hidden_size": parse("{num_heads} * {head_dim}")}
    expected = {
        "transformers_ToyMLP": f"6 * {rows} * {{hidden_size}} * {{intermediate_size}}",
        "transformers_ToyAttention": f"4 * {rows} * {{hidden_size}} * ({{seq_len}} + 2 * {{hidden_size}})",
    }
    assert expected == {key: short(forms(key).formulas["flops"], heads) for key in expected}
    assert "{intermediate_size} * {a_dtype_bytes}" in (
        short(forms("transformers_ToyMLP").formulas["peak"], {}) or ""
    )


def test_what_a_call_demands_beyond_its_class_is_a_condition() -> None:
    said = [one.text() for one in forms("transformers_ToyDecoderLayer").conditions]
    assert ["{hidden_size} % {num_heads} == 0", "{seq_len} >= 2"] == sorted(said)
    assert () == forms("transformers_ToyAttention").conditions


def test_a_regime_of_one_number_takes_the_regimes_of_its_calls_that_are_of_that_number() -> None:
    names = ("batch_size", "seq_len", "num_heads", "head_dim", "a_dtype_bytes", "w_dtype_bytes")
    bindings = {name: f"{{{name}}}" for name in names}
    for condition, chosen in (("{seq_len} == 1", "one token"), ("{seq_len} > 1", "default")):
        one = regime(
            Own(), (call(1, "inner", "transformers_ToyAttention", "0", **bindings),), conditions=(condition,)
        )
        found = forms("x_Outer", model=CostModel(TOY | {"x_Outer": entry("x.y.Outer", (), one)}))
        inner = forms("transformers_ToyAttention", chosen).formulas["pointwise_ops"]
        assert inner.subs({"seq_len": 1} if chosen == "one token" else {}) == found.formulas["pointwise_ops"]
        assert () == found.conditions


def test_states_that_another_exceeds_are_not_in_a_peak() -> None:
    own = Own(states=("{n}", "2 * {n}", "{n} * {m}"))
    peak = forms("x_A", model=CostModel({"x_A": entry("x.y.A", (), regime(own))})).formulas["peak"]
    assert parse("max(2 * {n}, {n} * {m})") == peak
    above = regime(own, conditions=("{m} >= 2",))
    assert (
        parse("{n} * {m}")
        == forms("x_A", model=CostModel({"x_A": entry("x.y.A", (), above)})).formulas["peak"]
    )


def test_sizes_of_which_there_may_be_none_are_not_taken_for_one() -> None:
    own = Own(states=("{n}", "{n} * {m}"))
    names = (Name(name="m", source="count"),)
    peak = forms("x_A", model=CostModel({"x_A": entry("x.y.A", names, regime(own))})).formulas["peak"]
    assert 7 == peak.evaluate({"n": 7, "m": 0})


def test_a_call_that_cannot_be_closed_leaves_the_others_and_says_why() -> None:
    model = CostModel({key: value for key, value in TOY.items() if key != "torch_SiLU"})
    found = forms("transformers_ToyMLP", model=model)
    assert {} == found.formulas
    assert "self.act_fn (line 11): looking for the entry torch_SiLU" in found.trouble
    assert [False, True, False, False] == [not one for one in found.calls]


def test_what_is_too_long_is_given_up_quickly(a_second: float) -> None:
    def level(place: int) -> Entry:
        calls = [
            _call(f"x_{place + 1}", f"{{n}} + {{m}} * {one}", f"{{m}} * {{n}} + {one}") for one in (1, 2)
        ]
        return entry("x.y.Z", (), regime(Own(flops="{n}", states=("{n}", "{m}")), tuple(calls)))

    last = entry("x.y.Z", (), regime(Own(flops="{n}")))
    model = CostModel({f"x_{place}": level(place) for place in range(40)} | {"x_40": last})
    begun = time.process_time()
    assert {} == forms("x_0", model=model).formulas
    assert time.process_time() - begun < 10 * a_second


def test_a_class_that_calls_itself_has_no_closed_form() -> None:
    model = CostModel({"x_A": entry("x.y.A", (), regime(Own(), (_call("x_A", "{n}", "{m}"),)))})
    assert "calls itself without end" in forms("x_A", model=model).trouble


@pytest.mark.parametrize("longest", [10, 300])
def test_a_long_formula_is_not_shown(longest: int) -> None:
    value = forms("transformers_ToyModel").formulas["reads"]
    assert short(value, {}, longest) is None


def _call(key: str, n: str, m: str) -> Call:
    return call(3, "inner", key, "0", n=n, m=m)

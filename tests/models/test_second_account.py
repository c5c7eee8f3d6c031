"""The module database beside a model's own formulas: agreement, other calls, differences, holes."""

from __future__ import annotations

import pytest

from forwardbook.models.populated import Populated, PopulatedLayer, Value
from forwardbook.models.record import CostPoint, PhaseCosts
from forwardbook.models.second_account import opinions, summary
from forwardbook.schema import (
    CodeLocation,
    Entry,
    FlopAnalysis,
    MemoryAnalysis,
    Proof,
    Regime,
    SubmoduleCall,
)

B, S, W, A = "{batch_size}", "{seq_len}", "{w_dtype_bytes}", "{a_dtype_bytes}"


def regime(flops: str, reads: str, writes: str, context: str = "called by itself", peak: str = "0") -> Regime:
    names = ("batch_size", "seq_len", "width", "w_dtype_bytes", "a_dtype_bytes")
    memory = MemoryAnalysis(
        reads=reads, writes=writes, weights=f"64 * {W}", boundary="0", intermediates="0", peak=peak
    )
    return Regime(
        name="default",
        context=context,
        parameters=names,
        flop_analysis=FlopAnalysis(flops=flops, pointwise_ops="0"),
        memory_analysis=memory,
        proof=Proof(verdict="exact", device="meta", dtype="float32"),
    )


def entry(*regimes: Regime) -> Entry:
    place = CodeLocation(file="toy.py", line_start=1, line_end=2)
    return Entry(
        full_class_name="toy.Linear", library="toy", code_location=place, source_hash="", regimes=regimes
    )


def populated(width: int = 4) -> Populated:
    def layer(name: str, key: str | None, *parts: PopulatedLayer) -> PopulatedLayer:
        values = {"width": Value(value=width, origin="config")} if key else {}
        return PopulatedLayer.model_validate(
            {
                "name": name,
                "class": "toy",
                "repeat": 1,
                "kind": "basic",
                "parameter_count": 0,
                "entry": key,
                "parameters": values,
                "sub_layers": parts,
            }
        )

    blocks = layer("blocks.0-1", None, layer("proj", "toy_Linear"))
    return Populated(
        model_id="toy",
        model_class="toy.Model",
        config_class="",
        config={},
        config_digest="",
        runtime=[],
        layers=[layer("", None, blocks, layer("head", None))],
    )


RIGHT = (f"{{width}} * 4 * {B} * {S}", f"{{width}} * {B} * {S} * {A}", f"{B} * {S} * {A}")


@pytest.mark.parametrize(
    ("found", "state"),
    [
        (entry(regime(*RIGHT)), "agrees"),
        (entry(regime(*RIGHT, "called as blocks.*.proj")), "agrees"),
        (entry(regime(*RIGHT, "called as other.*.proj")), "no regime"),
        (entry(regime(RIGHT[0], f"3 * {B} * {S}", RIGHT[2])), "same arithmetic"),
        (entry(regime(f"5 * {B} * {S} * {{width}}", *RIGHT[1:])), "differs"),
        (entry(), "no regime"),
        (None, "no entry"),
    ],
)
def test_state_of_a_layer(prefill: PhaseCosts, found: Entry | None, state: str) -> None:
    """All quantities at random points; a regime counts where it is for such a place."""
    told = {one.layer: one.state for one in opinions(prefill, populated(), lambda key: found)}

    assert {"": "no entry", "blocks.0-1": "no entry", "blocks.0-1.proj": state, "head": "no entry"} == told


def test_where_conditions_leave_no_small_sizes_those_of_the_proof_are_compared(prefill: PhaseCosts) -> None:
    """A class that is in the database is not said to be missing from it."""
    point = CostPoint(sizes={"batch_size": 3, "seq_len": 1024}, predicted={}, measured={}, layers=1)
    proof = prefill.proof.model_copy(update={"points": [point]})
    far = prefill.model_copy(update={"conditions": ["{seq_len} > 900"], "proof": proof})
    told = {one.layer: one.state for one in opinions(far, populated(), lambda key: entry(regime(*RIGHT)))}
    assert told["blocks.0-1.proj"] == "agrees"


def test_a_parameter_populated_wrong_is_a_difference(prefill: PhaseCosts) -> None:
    """The account rests on the populated values, not on the formula it is compared with."""
    [projection] = [
        one
        for one in opinions(prefill, populated(5), lambda key: entry(regime(*RIGHT)))
        if one.layer == "blocks.0-1.proj"
    ]
    assert "differs" == projection.state
    assert "flops" in projection.told


def test_a_class_is_as_its_worst_layer(prefill: PhaseCosts) -> None:
    """The class of a layer that agrees and of one that is not known counts as agreeing."""
    found = summary(opinions(prefill, populated(), lambda key: entry(regime(*RIGHT))))

    assert ["toy.Linear"] == found["agrees"]
    assert "1 of 3 classes agree with the module database; 2 are not in it: Model, Block" == found["told"]


def _built(found: Regime, *assumptions: str, calls: tuple[str, ...] = ()) -> Regime:
    submodules = tuple(SubmoduleCall(line=1, attribute="part", class_name=name, times="1") for name in calls)
    analysis = found.flop_analysis.model_copy(update={"submodule_calls": submodules})
    return found.model_copy(update={"assumptions": assumptions, "flop_analysis": analysis})


@pytest.mark.parametrize(("value", "state"), [(None, "differs"), (128, "no regime")])
def test_a_field_that_was_left_out_is_left_out_here(
    prefill: PhaseCosts, value: int | None, state: str
) -> None:
    """A formula derived without head_dim says nothing of a config that has one."""
    wrong = _built(regime(f"5 * {B} * {S}", *RIGHT[1:]), "built with text.head_dim=None")
    model = populated().model_copy(update={"config": {"text": {"head_dim": value}}})
    told = opinions(prefill, model, lambda key: entry(wrong))

    assert [state] == [one.state for one in told if one.layer == "blocks.0-1.proj"]


@pytest.mark.parametrize(("value", "state"), [(None, "differs"), ([8, 2], "differs"), ([4], "no regime")])
def test_numbers_of_the_config_that_are_no_sizes_are_those_of_the_regime(
    prefill: PhaseCosts, value: list[int] | None, state: str
) -> None:
    """A formula derived at some rates says nothing of a config with others."""
    wrong = _built(regime(f"5 * {B} * {S}", *RIGHT[1:]), "a config with rates=[8, 2]")
    model = populated().model_copy(update={"config": {"rates": value} if value else {}})
    told = opinions(prefill, model, lambda key: entry(wrong))

    assert [state] == [one.state for one in told if one.layer == "blocks.0-1.proj"]


def test_a_list_told_in_part_is_compared_as_far_as_it_is_told(prefill: PhaseCosts) -> None:
    wrong = _built(regime(f"5 * {B} * {S}", *RIGHT[1:]), "a config with rates=[8, 2, ...")
    for rates, state in (([8, 2, 7], "differs"), ([8, 3, 7], "no regime")):
        model = populated().model_copy(update={"config": {"rates": rates}})
        told = opinions(prefill, model, lambda key: entry(wrong))
        assert [state] == [one.state for one in told if one.layer == "blocks.0-1.proj"]


def test_what_the_config_has_otherwise_is_told(prefill: PhaseCosts) -> None:
    taken = ('a config with act="gelu"', "a config with bias=true")
    wrong = _built(regime(f"5 * {B} * {S}", *RIGHT[1:]), *taken)
    model = populated().model_copy(update={"config": {"act": "silu", "bias": True}})
    told = opinions(prefill, model, lambda key: entry(wrong))

    assert ['the database has it with act="gelu"'] == [o.told for o in told if o.layer == "blocks.0-1.proj"]


def test_a_regime_of_another_config_that_says_the_same_agrees(prefill: PhaseCosts) -> None:
    same = _built(regime(*RIGHT), 'a config with act="gelu"')
    model = populated().model_copy(update={"config": {"act": "silu"}})
    told = opinions(prefill, model, lambda key: entry(same))

    assert ["agrees"] == [one.state for one in told if one.layer == "blocks.0-1.proj"]


def test_a_layer_without_the_parts_of_the_call_is_another_build(prefill: PhaseCosts) -> None:
    """A model built without its pooler is not held against the one with it."""
    whole = entry(_built(regime(f"5 * {B} * {S}", *RIGHT[1:]), calls=("toy.Block", "toy.Pooler")))
    model = populated()
    root = model.layers[0].model_copy(update={"entry": "toy"})
    told = opinions(prefill, model.model_copy(update={"layers": [root]}), lambda key: whole)

    assert ["no regime"] == [one.state for one in told if one.layer == ""]


def test_a_guess_of_rows_gives_way_to_a_regime_whose_sizes_are_not_known(prefill: PhaseCosts) -> None:
    """Where a call may be one with sizes that nobody told, a wrong guess is no difference."""
    guessed = regime(f"5 * {B} * {S}", *RIGHT[1:])
    other = regime(*RIGHT).model_copy(update={"parameters": ("src_len", "tgt_len", "width"), "name": "cross"})
    told = opinions(prefill, populated(), lambda key: entry(guessed, other))

    [projection] = [one for one in told if one.layer == "blocks.0-1.proj"]
    assert "no regime" == projection.state
    assert "src_len, tgt_len" in projection.told


@pytest.mark.parametrize(
    ("condition", "state"), [("{width} == 7", "no regime"), ("{a_dtype_bytes} == 3", "differs")]
)
def test_of_regimes_that_share_a_place_the_right_one_may_be_one_that_does_not_hold(
    prefill: PhaseCosts, condition: str, state: str
) -> None:
    """Numbers of other widths are another call; other sizes may be another layer."""
    place = "called as blocks.*.proj"
    wrong = regime(f"5 * {B} * {S} * {{width}}", *RIGHT[1:], place)
    other = regime(*RIGHT, place).model_copy(update={"conditions": (condition,), "name": "second"})
    told = opinions(prefill, populated(), lambda key: entry(wrong, other))

    assert [state] == [one.state for one in told if one.layer == "blocks.0-1.proj"]


@pytest.mark.parametrize(("place", "state"), [("blocks.1.proj", "differs"), ("blocks.2.proj", "no regime")])
def test_a_regime_of_one_layer_has_a_say_about_that_layer(
    prefill: PhaseCosts, place: str, state: str
) -> None:
    wrong = regime(f"5 * {B} * {S} * {{width}}", *RIGHT[1:], f"called as {place}")
    told = opinions(prefill, populated(), lambda key: entry(wrong))

    assert [state] == [one.state for one in told if one.layer == "blocks.0-1.proj"]

"""The module database beside a model's own formulas: agreement, other calls, differences, holes."""

from __future__ import annotations

import pytest

from forwardbook.models.populated import Populated, PopulatedLayer, Value
from forwardbook.models.record import PhaseCosts
from forwardbook.models.second_account import opinions, summary
from forwardbook.schema import CodeLocation, Entry, FlopAnalysis, MemoryAnalysis, Proof, Regime

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

"""What tests of models share: a small model written by hand, whose totals are easy to add up."""

from __future__ import annotations

import pytest

from forwardbook.models.record import (
    AttentionCost,
    CostPoint,
    CostProof,
    LayerCosts,
    PhaseCosts,
    Quantities,
)
from forwardbook.schema import Parameter

B, S, K = "{batch_size}", "{seq_len}", "{kv_len}"
W, A, KV = "{w_dtype_bytes}", "{a_dtype_bytes}", "{kv_dtype_bytes}"


def quantities(flops: str, reads: str, writes: str, peak: str, boundary: str = "0") -> Quantities:
    """Formulas of a layer, those that a test does not look at zero."""
    return Quantities(
        flops=flops,
        pointwise_ops="0",
        reads=reads,
        writes=writes,
        weights=f"64 * {W}",
        boundary=boundary,
        intermediates="0",
        peak=peak,
    )


def phase(
    name: str, conditions: tuple[str, ...], model: LayerCosts, *sizes: str, cache: str = "0"
) -> PhaseCosts:
    """A phase with a proof of one point."""
    point = CostPoint(sizes=dict.fromkeys(sizes, 3), predicted={}, measured={}, layers=4)
    return PhaseCosts(
        phase="decode" if name == "decode" else "prefill",
        conditions=list(conditions),
        parameters=[Parameter(name=size) for size in sizes],
        cache=cache,
        model=model,
        proof=CostProof(verdict="exact", dtype="bfloat16", points=[point]),
    )


def layer(
    name: str, kind: str, repeat: int, costs: Quantities, *parts: LayerCosts, **more: object
) -> LayerCosts:
    """A layer of the toy library."""
    return LayerCosts.model_validate(
        {
            "name": name,
            "class_name": f"toy.{kind}",
            "repeat": repeat,
            "costs": costs,
            "sub_layers": parts,
            **more,
        }
    )


@pytest.fixture
def prefill() -> PhaseCosts:
    """Two blocks, each an attention and a projection, and a head."""
    attention = AttentionCost(
        count=1, dense=f"8 * {B} * {S} * {S}", executed=f"4 * {B} * {S} * ({S} + 1)", shape="causal"
    )
    projection = layer(
        "proj", "Linear", 1, quantities(f"16 * {B} * {S}", f"4 * {B} * {S} * {A}", f"{B} * {S} * {A}", "0")
    )
    block = layer(
        "blocks.0-1",
        "Block",
        2,
        quantities(
            f"8 * {B} * {S} * {S} + 16 * {B} * {S}", f"6 * {B} * {S} * {A}", f"2 * {B} * {S} * {A}", "0"
        ),
        projection,
        attention=[attention],
    )
    head = layer("head", "Linear", 1, quantities(f"32 * {B} * {S}", f"64 * {W}", f"8 * {B} * {S} * {A}", "0"))
    whole = quantities(
        f"2 * (8 * {B} * {S} * {S} + 16 * {B} * {S}) + 32 * {B} * {S}",
        f"12 * {B} * {S} * {A} + 64 * {W}",
        f"12 * {B} * {S} * {A}",
        f"max(10 * {B} * {S} * {A}, 6 * {B} * {S} * {A} + 7)",
        f"{B} * {S} * {A} + 64 * {W}",
    )
    model = layer("", "Model", 1, whole, block, head)
    return phase("prefill", (f"{S} > 1", f"{A} < 4"), model, "batch_size", "seq_len")


@pytest.fixture
def single() -> PhaseCosts:
    """The same model at one position, in other formulas."""
    model = layer("", "Model", 1, quantities(f"80 * {B}", f"1000 * {B}", f"{B}", f"5 * {B}"))
    return phase("prefill", (f"{S} == 1", f"{A} < 4"), model, "batch_size", "seq_len")


@pytest.fixture
def decode() -> PhaseCosts:
    """One token over a cache."""
    costs = quantities(
        f"{B} * ({K} + 1)", f"{B} * {K} * {KV}", f"{B} * {KV}", f"4 * {B} * ({K} + 1) * {KV} + 9 * {B}"
    )
    model = layer("", "Model", 1, costs)
    return phase("decode", (f"{A} < 4",), model, "batch_size", "kv_len", cache=f"4 * {B} * {K} * {KV}")

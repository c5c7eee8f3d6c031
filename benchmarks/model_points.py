"""The kept formulas of a model in; random sizes at which to hold them, within their conditions, out."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    from forwardbook.models.record import ModelCosts, PhaseCosts

    Sizes = Mapping[str, int]

TRIES: Final = 5000
# From least to largest, drawn evenly over the orders of magnitude, a third of them powers of two, at which
# what is cut into chunks or windows comes out even; positions end where the config says.
RANGES: Final = {
    "batch_size": (1, 24),
    "seq_len": (1, 3000),
    "decoder_seq_len": (1, 1500),
    "kv_len": (1, 3000),
    "num_samples": (400, 160_000),
}
STEPPED: Final[Mapping[object, int]] = {"mamba": 200}  # steps through positions one by one: a run takes long
POSITIONS: Final = ("max_position_embeddings", "n_positions", "max_target_positions")
KNOWN: Final[Mapping[str, int]] = {  # flops at one sequence of 2048 positions, known before these formulas
    "llama-2-7b": 29_261_612_187_648,
    "llama-3.1-8b": 32_938_104_193_024,
    "qwen3-4b": 18_949_127_274_496,
    "mixtral-8x7b": 54_417_235_640_320,
    "qwen3-30b-a3b": 15_757_161_267_200,
}
KNOWN_AT: Final = {"batch_size": 1, "seq_len": 2048}


def drawn(costs: ModelCosts, config: Mapping[str, object], count: int, seed: int) -> list[tuple[str, Sizes]]:
    """`count` points of prefill, one of decode; each regime once while there are enough; none proved at."""
    rng = random.Random(f"{seed} {costs.model_id}")
    found: list[tuple[str, Sizes]] = []
    if costs.model_id in KNOWN:
        found.append(("prefill", dict(KNOWN_AT)))
    for phase, wanted in (("prefill", count), ("decode", 1)):
        regimes = [one for one in costs.phases if one.phase == phase and one.proof.dtype == "bfloat16"]
        for place in range(max(wanted, len(regimes)) if regimes else 0):
            sizes = _draw(regimes, place % len(regimes), config, rng, [at for _, at in found])
            if sizes is not None:
                found.append((phase, sizes))
    return found


def _draw(
    regimes: Sequence[PhaseCosts],
    place: int,
    config: Mapping[str, object],
    rng: random.Random,
    before: Sequence[Sizes],
) -> Sizes | None:
    """Sizes that fall into one regime, new ones."""
    from forwardbook.models.totals import NoFormulas, Widths, holding

    known = [*before, *(point.sizes for regime in regimes for point in regime.proof.points)]
    names = [one.name for one in regimes[place].parameters]
    for _ in range(TRIES):
        sizes = {name: _value(name, config, rng) for name in names}
        try:
            chosen = holding(regimes, regimes[place].phase, sizes, Widths())
        except NoFormulas:
            continue
        if chosen is regimes[place] and sizes not in known:
            return sizes
    return None


def _value(name: str, config: Mapping[str, object], rng: random.Random) -> int:
    low, high = RANGES[name]
    if name in ("seq_len", "decoder_seq_len", "kv_len"):
        ends = [value for field in POSITIONS if isinstance(value := _field(config, field), int) and value > 1]
        high = min([high, *(end - 1 for end in ends), STEPPED.get(config.get("model_type"), high)])
    value = round(low * (high / low) ** rng.random())
    return 1 << (value.bit_length() - 1) if name != "num_samples" and rng.random() < 1 / 3 else value


def _field(config: Mapping[str, object], name: str) -> object:
    text = config.get("text_config")
    return config.get(name, cast("Mapping[str, object]", text).get(name) if isinstance(text, dict) else None)

"""Formulas of whole models against hand formulas and against counts that share no rule with them."""

from __future__ import annotations

from functools import cache

import pytest
import torch
import transformers
from torch.utils.flop_counter import FlopCounterMode

from forwardbook.analyzers.instances.pretrained.whole import Phase, phases_of
from forwardbook.formula import parse
from forwardbook.models.record import PhaseCosts
from forwardbook.models.totals import NoFormulas, Numbers, SizesRefused, Widths, evaluate, holding, leaves
from forwardbook.pipeline.model.costs import phase_costs
from forwardbook.pipeline.model.source import HangsOnData

LLAMA = {
    "hidden_size": 48,
    "intermediate_size": 96,
    "num_hidden_layers": 3,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "vocab_size": 101,
}
WIDE, NARROW = 6 * 8, 2 * 8  # query heads and key heads of 8


@cache
def llama(dtype: torch.dtype = torch.bfloat16) -> dict[str, PhaseCosts]:
    """Prefill and decode of a small Llama."""
    config = transformers.LlamaConfig(**LLAMA)
    return {
        p.name: phase_costs(p, dtype, 7) for p in phases_of(transformers.LlamaForCausalLM, config)
    }


def test_prefill_is_the_hand_formula() -> None:
    """Projections, gated feed-forward, attention over all pairs and logits, two flops a product."""
    layer = 2 * 48 * (2 * WIDE + 2 * NARROW) + 3 * 2 * 48 * 96
    tokens, pairs = 3 * layer + 2 * 48 * 101, 3 * 2 * 2 * WIDE
    expected = parse(f"{{batch_size}} * {{seq_len}} * ({tokens} + {pairs} * {{seq_len}})")
    assert expected == parse(llama()["prefill"].model.costs.flops, exact=True)


def test_decode_is_the_hand_formula() -> None:
    """One token: its projections, and attention over the cache and itself."""
    layer = 2 * 48 * (2 * WIDE + 2 * NARROW) + 3 * 2 * 48 * 96
    once, pairs = 3 * layer + 2 * 48 * 101, 3 * 2 * 2 * WIDE
    expected = parse(f"{{batch_size}} * ({once} + {pairs} * ({{kv_len}} + 1))")
    assert expected == parse(llama()["decode"].model.costs.flops, exact=True)


def test_the_cache_is_the_hand_formula() -> None:
    """Keys and values of every layer."""
    expected = parse(f"{3 * 2 * NARROW} * {{batch_size}} * {{kv_len}} * {{kv_dtype_bytes}}")
    assert expected == parse(llama()["decode"].cache, exact=True)


def test_a_single_sequence_is_counted_alike() -> None:
    """That a size is 1 changes nothing in Llama, so no condition speaks of the batch."""
    assert not any("batch_size" in text for text in llama()["prefill"].conditions)


def test_layers_of_equal_cost_are_told_once() -> None:
    """Three decoder layers are one row that repeats."""
    names = {name: times for name, times, _ in llama()["prefill"].model.walk()}
    assert 3 == names["model.layers.0-2.self_attn"]


def test_executed_attention_is_the_lower_triangle() -> None:
    """Of seq_len squared pairs, causal attention needs seq_len (seq_len + 1) / 2."""
    sizes = {"batch_size": 2, "seq_len": 9}
    dense, executed = (
        evaluate(llama()["prefill"], sizes, Widths(), kind).total.flops for kind in ("dense", "executed")
    )
    spared = 9 * 9 - 9 * 10 // 2
    assert 3 * 2 * 2 * WIDE * 2 * spared == dense - executed


@pytest.mark.parametrize("kind", ["dense", "executed"])
def test_own_parts_add_up_to_the_whole(kind: str) -> None:
    """What each forward() adds itself, over all layers, is the whole model."""
    totals = evaluate(llama()["prefill"], {"batch_size": 2, "seq_len": 9}, Widths(4, 16, 8), kind)  # type: ignore[arg-type]
    added = sum((one for _, one in leaves(totals.rows)), Numbers())
    for name in ("flops", "pointwise_ops", "reads", "writes"):
        assert getattr(totals.total, name) == getattr(added, name)


def test_weights_of_four_bits_are_half_a_byte_each() -> None:
    """A width below a byte is a fraction; what is no parameter of the model's dtype keeps its width."""
    sizes = {"batch_size": 1, "kv_len": 5}
    full, quarter = (
        evaluate(llama()["decode"], sizes, Widths(w_bit=bits)).total.weights for bits in (16, 4)
    )
    layer = 48 * (2 * WIDE + 2 * NARROW) + 3 * 48 * 96 + 2 * 48
    assert (3 * layer + 2 * 101 * 48 + 48) * (16 - 4) // 8 == full - quarter


def test_float32_has_formulas_of_its_own() -> None:
    """Where `.float()` copies nothing, fewer bytes move; the flops are the same."""
    phase = llama(torch.float32)["prefill"]
    assert "{a_dtype_bytes} == 4" in phase.conditions
    assert llama()["prefill"].model.costs.flops == phase.model.costs.flops


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ({}, "missing: batch_size, seq_len"),
        ({"batch_size": 0, "seq_len": -3}, "must be at least 1: batch_size = 0, seq_len = -3"),
    ],
)
def test_sizes_that_mean_nothing_are_all_named(sizes: dict[str, int], said: str) -> None:
    """Every missing or impossible size in one message."""
    with pytest.raises(SizesRefused, match=said):
        holding(llama().values(), "prefill", sizes, Widths())


def test_sizes_outside_every_regime_are_refused() -> None:
    """No formula is stretched beyond its conditions."""
    with pytest.raises(NoFormulas, match="seq_len"):
        holding(llama().values(), "prefill", {"batch_size": 1, "seq_len": 1}, Widths())


def test_bits_are_two_to_sixty_four() -> None:
    """Widths beyond are refused, all at once."""
    with pytest.raises(SizesRefused, match=r"w_bit is 1, kv_bit is 65"):
        Widths(1, 16, 65)


SMALL = {
    "T5ForConditionalGeneration": transformers.T5Config(
        d_model=32, d_ff=64, d_kv=8, num_heads=4, num_layers=2, num_decoder_layers=2, vocab_size=60
    ),
    "MixtralForCausalLM": transformers.MixtralConfig(
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        num_local_experts=4,
        vocab_size=60,
    ),
    "Mamba2ForCausalLM": transformers.Mamba2Config(
        hidden_size=32,
        num_heads=8,
        head_dim=8,
        state_size=16,
        n_groups=1,
        num_hidden_layers=2,
        chunk_size=16,
        vocab_size=60,
    ),
    "BertModel": transformers.BertConfig(
        hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, vocab_size=60
    ),
}


@pytest.mark.parametrize("name", SMALL)
def test_other_families_are_proved(name: str) -> None:
    """Experts, two stacks, a recurrence, an encoder: every phase equals what ran, layer by layer."""
    found = [phase_costs(p, torch.bfloat16, 3) for p in phases_of(getattr(transformers, name), SMALL[name])]

    assert ["exact"] * len(found) == [one.proof.verdict for one in found]
    assert [] == [u for one in found for u in one.unresolved]
    assert (1 if name == "BertModel" else 2) == len(found)


def test_torchs_own_counter_agrees() -> None:
    """FlopCounterMode on the CPU, attention written out, counts a prefill of the small Llama alike."""
    config = transformers.LlamaConfig(**LLAMA, attn_implementation="eager")
    model = transformers.LlamaForCausalLM(config).eval()
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        model(input_ids=torch.ones(2, 33, dtype=torch.int64))
    totals = evaluate(llama()["prefill"], {"batch_size": 2, "seq_len": 33}, Widths())
    assert counter.get_total_flops() == totals.total.flops


def test_attention_of_an_unknown_mask_stays_dense() -> None:
    """T5 adds a learnt bias: nobody may claim that it spares anything, and the layers are named."""
    phase = phase_costs(
        phases_of(transformers.T5ForConditionalGeneration, SMALL["T5ForConditionalGeneration"])[0],
        torch.bfloat16,
        3,
    )
    sizes = {"batch_size": 1, "seq_len": 8, "decoder_seq_len": 4}
    phase = phase.model_copy(update={"conditions": []})
    dense, executed = (evaluate(phase, sizes, Widths(), kind) for kind in ("dense", "executed"))

    assert dense.total.flops == executed.total.flops
    assert any("SelfAttention" in name for name in executed.unknown_masks)


@pytest.fixture(scope="module")
def dbrx() -> dict[str, Phase]:
    """A model that loops over the experts that tokens were sent to, two of four each."""
    attention = {"kv_n_heads": 2, "rope_theta": 10_000.0, "clip_qkv": 8}
    experts = {"moe_num_experts": 4, "moe_top_k": 2, "ffn_hidden_size": 80}
    config = transformers.DbrxConfig(
        d_model=48, n_heads=6, n_layers=2, vocab_size=101, attn_config=attention, ffn_config=experts
    )
    return {p.name: p for p in phases_of(transformers.DbrxForCausalLM, config)}


def test_costs_that_hang_on_data_are_refused_by_name(dbrx: dict[str, Phase]) -> None:
    """The refusal names the size and the line, and the sizes that the call has besides."""
    said = r"hangs on data\n +expert_hit_count: .*DbrxExperts\.forward line \d"
    with pytest.raises(HangsOnData, match=said) as refused:
        phase_costs(dbrx["prefill"], torch.bfloat16, 7)

    assert {"batch_size", "seq_len"} == set(refused.value.sizes)
    with pytest.raises(HangsOnData) as refused:  # the call that fills its cache has more tokens
        phase_costs(dbrx["decode"], torch.bfloat16, 7)
    assert {"batch_size", "kv_len"} == set(refused.value.sizes)


def test_balanced_costs_are_the_hand_formula(dbrx: dict[str, Phase]) -> None:
    """At one batch and length: each token runs two experts, each of three products, and that is assumed."""
    attention = 2 * 48 * (48 + 2 * 16) + 2 * 48 * 48
    layer = attention + 2 * 48 * 4 + 2 * 3 * 2 * 48 * 80
    token, pair = 2 * layer + 2 * 48 * 101, 2 * 2 * 2 * 48
    prefill, decode = {"batch_size": 3, "seq_len": 8}, {"batch_size": 3, "kv_len": 8}
    expected = {"prefill": 3 * 8 * (token + pair * 8), "decode": 3 * (token + pair * 9)}
    for name, sizes in (("prefill", prefill), ("decode", decode)):
        found = phase_costs(dbrx[name], torch.bfloat16, 7, sizes, sizes, balanced=True)

        assert expected[name] == evaluate(found, sizes, Widths()).total.flops
        assert any(text.startswith("balanced routing: ") for text in found.assumptions)
        assert {f"{{{size}}} == {number}" for size, number in sizes.items()} <= set(found.conditions)
        assert ("exact", 1) == (found.proof.verdict, len(found.proof.points))

"""The shipped models: hand-derived totals, and files that are of today's config, rules and libraries."""

from __future__ import annotations

from pathlib import Path

import pytest

from forwardbook.models.record import ModelCosts
from forwardbook.models.totals import Widths, evaluate, holding
from forwardbook.pipeline.model.analysis import Request, analyse, checked
from forwardbook.pipeline.model.pipeline import Model
from forwardbook.workspace.model_files import ModelFiles

IDS = ModelFiles(Path("nowhere")).ids()
HAND = {  # flops of a prefill of 2048 tokens: projections, attention over all pairs, logits
    "llama-2-7b": 29_261_612_187_648,
    "llama-3.1-8b": 32_938_104_193_024,
    "qwen3-4b": 18_949_127_274_496,
    "mixtral-8x7b": 54_417_235_640_320,
    "qwen3-30b-a3b": 15_757_161_267_200,
}
KINDS = {
    "dense": {"llama-2-7b", "gpt2", "phi-3-mini-4k"},
    "grouped queries": {"llama-3-70b", "qwen2.5-7b", "mistral-7b-v0.3"},
    "latent attention": {"deepseek-v2-lite", "deepseek-v3"},
    "experts": {"mixtral-8x7b", "qwen3-30b-a3b", "gpt-oss-20b"},
    "recurrent": {"mamba-2.8b", "mamba2-2.7b"},
    "hybrid": {"bamba-9b"},
    "encoder": {"bert-base", "modernbert-base"},
    "encoder and decoder": {"t5-base", "bart-large"},
    "vision": {"vit-base-patch16-224", "swin-tiny-patch4-window7-224", "convnext-tiny-224"},
    "audio": {"whisper-large-v3", "wav2vec2-base"},
    "two towers": {"clip-vit-base-patch32", "siglip-base-patch16-224"},
}


def costs(model_id: str) -> ModelCosts:
    """The formulas of a shipped model, where they are of today."""
    files = ModelFiles(Path("nowhere"))
    found = files.find(model_id)
    assert found is not None
    model = Model(found, files)
    assert model.costs is not None, f"the formulas of {model_id} are of other rules, libraries or config"
    return model.costs


def test_every_kind_of_model_is_shipped() -> None:
    """Twenty-five at least, of every kind."""
    assert len(IDS) >= 25
    assert set() == set().union(*KINDS.values()) - set(IDS)


@pytest.mark.parametrize("model_id", IDS)
def test_formulas_are_of_today_and_proved(model_id: str) -> None:
    """Config, rules and libraries are those of the file; every phase was equal at three points."""
    found = costs(model_id)

    assert [] == [p.phase for p in found.phases if p.proof.verdict != "exact" or len(p.proof.points) < 3]
    assert "prefill" in {p.phase for p in found.phases}


@pytest.mark.parametrize("model_id", IDS)
def test_points_are_what_the_formulas_give(model_id: str) -> None:
    """The stored predictions and counts follow from the stored formulas."""
    for phase in costs(model_id).phases:
        bits = {"bfloat16": 16, "float32": 32, "float64": 64}[phase.proof.dtype]
        for point in phase.proof.points:
            totals = evaluate(phase, point.sizes, Widths(bits, bits, bits))
            assert point.measured == {**totals.total.whole(), "cache": totals.cache}


@pytest.mark.parametrize("model_id", IDS)
def test_the_module_database_contradicts_no_layer(model_id: str) -> None:
    """The formulas of the classes, derived apart with every size free, are held against the model."""
    populated = next(ModelFiles(Path("nowhere")).populated(model_id))
    told = [one for phase in populated.opinions.values() for one in phase]

    assert told
    assert [] == [(one.layer, one.told) for one in told if one.state == "differs"]


@pytest.mark.parametrize("model_id", HAND)
def test_prefill_is_the_hand_formula(model_id: str) -> None:
    """One sequence of 2048 tokens, attention dense."""
    sizes = {"batch_size": 1, "seq_len": 2048}
    phase = holding(costs(model_id).phases, "prefill", sizes, Widths())

    assert HAND[model_id] == evaluate(phase, sizes, Widths()).total.flops


def test_weights_and_cache_of_llama() -> None:
    """Two bytes for each of 6,738,415,616 parameters; 2 * 32 * 4096 elements of cache a token."""
    request = Request(
        "llama-2-7b", {"batch_size": 2, "seq_len": 100}, {"w_bit": 16, "a_bit": 16, "kv_bit": 8}
    )
    found = analyse(checked(request, ModelFiles(Path("nowhere"))))

    assert 2 * 6_738_415_616 + 512 == found.weight_bytes  # the frequencies of rotary embeddings are a buffer
    assert 2 * 100 * 2 * 32 * 4096 == found.phases[0].memory.cache

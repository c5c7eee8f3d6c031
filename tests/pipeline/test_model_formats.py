"""The number format that a config names changes no formula: widths are symbols, whatever a file says."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest
import torch

from forwardbook.analyzers.instances.pretrained.configs import parts
from forwardbook.analyzers.instances.pretrained.depth import cut_depth
from forwardbook.analyzers.instances.pretrained.models import instantiate
from forwardbook.analyzers.instances.pretrained.whole import phases_of
from forwardbook.formula import parse
from forwardbook.models.record import LayerCosts, ModelCosts, PhaseCosts
from forwardbook.models.totals import Widths, evaluate
from forwardbook.pipeline.model.costs import phase_costs
from forwardbook.pipeline.model.find import find_model
from forwardbook.pipeline.model.pipeline import Model
from forwardbook.pipeline.model.source import ModelRefused, from_values
from forwardbook.pipeline.model.user import user_phases
from forwardbook.workspace.model_files import ModelFiles

WRITTEN = Path(__file__).parents[1] / "models" / "configs"
FORMATS = [(field, kind) for field in ("torch_dtype", "dtype") for kind in ("float16", "bfloat16", "float32")]
OPT = {
    "model_type": "opt",
    "architectures": ["OPTForCausalLM"],
    "hidden_size": 32,
    "ffn_dim": 64,
    "num_hidden_layers": 1,
    "num_attention_heads": 4,
    "vocab_size": 60,
    "word_embed_proj_dim": 32,
}
WHISPER = {
    "model_type": "whisper",
    "architectures": ["WhisperForConditionalGeneration"],
    "d_model": 32,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "max_source_positions": 20,
    "num_mel_bins": 8,
    "vocab_size": 60,
    "pad_token_id": 0,
}


@cache
def configs() -> dict[str, dict[str, object]]:
    """Twelve configs as checkpoints have them, and the shipped ones."""
    found = {path.stem: json.loads(path.read_text()) for path in sorted(WRITTEN.glob("*.json"))}
    kept = ModelFiles(Path("nowhere"))
    for model_id in kept.ids():
        one = kept.find(model_id)
        assert one is not None
        listed = [one.model_class.rpartition(".")[2]]
        found[f"shipped {model_id}"] = {**one.config, "architectures": listed}
    return found


def named(values: dict[str, object], field: str, kind: str) -> dict[str, object]:
    """The config with a format in it and in all its parts."""
    inner = {n: named(v, field, kind) for n, v in values.items() if isinstance(v, dict) and "config" in n}
    kept = {n: v for n, v in values.items() if n not in ("dtype", "torch_dtype")}
    return {**kept, **inner, field: kind}


def types(values: dict[str, object]) -> dict[str, torch.dtype]:
    """The types of the parameters of a model with few layers, made where bfloat16 is the default."""
    source = from_values("x", values, "test")
    for part in parts(source.config):
        cut_depth(part)
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.bfloat16)
    try:
        with torch.device("meta"):
            model = instantiate(source.model_class, source.config)
    finally:
        torch.set_default_dtype(before)
    return {name: weight.dtype for name, weight in model.named_parameters()}


def test_forty_three_configs_are_tried() -> None:
    """Twelve that are written here and thirty-one that are shipped."""
    assert (12, 31) == (len(list(WRITTEN.glob("*.json"))), len(configs()) - 12)


@pytest.mark.parametrize("name", sorted(configs()))
def test_a_model_is_built_in_the_default_format_whatever_its_config_names(name: str) -> None:
    """Also where the format stands in the configs of its parts alone."""
    plain = types({n: v for n, v in configs()[name].items() if n not in ("dtype", "torch_dtype")})
    for field, kind in FORMATS:
        assert plain == types(named(configs()[name], field, kind))
    assert torch.bfloat16 in plain.values()


def phase(values: dict[str, object], name: str, kind: torch.dtype = torch.bfloat16) -> PhaseCosts:
    source = from_values("x", values, "test")
    [one] = [p for p in phases_of(source.model_class, source.config) if p.name == name]
    return phase_costs(one, kind, 7)


@cache
def plain(name: str) -> PhaseCosts:
    return phase(OPT if name == "decode" else WHISPER, name)


@pytest.mark.parametrize("format", ["float16", "float32"])
def test_a_decode_in_widths_is_the_same_whatever_format_the_config_names(format: str) -> None:
    """Weights of 4 bits and a cache of 8 are as wide as asked, by hand."""
    found = phase({**OPT, "torch_dtype": format}, "decode")
    assert (plain("decode").model, plain("decode").cache) == (found.model, found.cache)

    sizes = {"batch_size": 2, "kv_len": 9}
    totals = evaluate(found, sizes, Widths(w_bit=4, kv_bit=8))
    layer = 4 * (32 * 32 + 32) + 2 * 32 * 64 + 64 + 32 + 2 * 2 * 32
    tables = 60 * 32 + (2048 + 2) * 32 + 2 * 32
    assert (layer + tables) // 2 == totals.total.weights
    assert 2 * 2 * 9 * 32 == totals.cache


@pytest.mark.parametrize("format", ["float16", "float32"])
def test_a_model_of_audio_features_runs_whatever_format_its_config_names(format: str) -> None:
    """Its inputs are floats, of the same type as its weights."""
    found = phase({**WHISPER, "torch_dtype": format}, "prefill")
    assert plain("prefill").model == found.model


def test_widths_of_four_bytes_are_asked_for_by_width() -> None:
    """A config of bfloat16 has weights of four bytes at 32 bits."""
    found = phase({**OPT, "dtype": "bfloat16"}, "decode", torch.float32)
    assert 4 * parse(found.model.costs.weights).evaluate({"w_dtype_bytes": 1}) == parse(
        found.model.costs.weights
    ).evaluate({"w_dtype_bytes": 4})


FIXED = """
import torch
def build():
    return torch.nn.Sequential(torch.nn.Linear(8, 4, dtype=torch.float16), torch.nn.ReLU())
"""


def test_weights_of_a_fixed_width_are_no_proof(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A factory that makes them in one type is told to make them in the default type."""
    (tmp_path / "fixed_net.py").write_text(FIXED)
    monkeypatch.syspath_prepend(tmp_path)
    [one] = user_phases("fixed_net:build", {"input": "batch_size,8:float16"})
    with pytest.raises(ModelRefused, match="torch.float16 whatever type is asked for"):
        phase_costs(one, torch.bfloat16, 7)


def _fixed(layer: LayerCosts) -> LayerCosts:
    costs = layer.costs.model_copy(update={"weights": "123456"})
    return layer.model_copy(update={"costs": costs})


def test_kept_formulas_of_a_fixed_width_are_derived_again(tmp_path: Path) -> None:
    """Those that were kept before are not taken for formulas of any width."""
    shipped = ModelFiles(tmp_path)
    architecture = find_model("gpt2", shipped)
    model = Model(architecture, shipped)
    assert model.costs is not None
    assert _kept(tmp_path, model.costs) == model.costs
    phases = [p.model_copy(update={"model": _fixed(p.model)}) for p in model.costs.phases]
    shipped.write_costs(model.costs.model_copy(update={"phases": phases}))
    assert next(shipped.costs("gpt2")).phases == phases
    assert _kept(tmp_path, model.costs) == model.costs


def _kept(root: Path, shipped: ModelCosts) -> ModelCosts | None:
    files = ModelFiles(root)
    return Model(find_model(shipped.model_id, files), files).costs


def test_no_shipped_formula_has_a_fixed_width() -> None:
    """The weights of each shipped model are told in their width."""
    kept = ModelFiles(Path("nowhere"))
    for model_id in kept.ids():
        for costs in kept.costs(model_id):
            for one in costs.phases:
                assert "{w_dtype_bytes}" in one.model.costs.weights, model_id

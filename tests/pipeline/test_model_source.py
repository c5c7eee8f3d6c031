"""Config files as the hub has them: names of classes and model types, code that a checkpoint brings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from forwardbook.analyzers.instances.pretrained.whole import phases_of
from forwardbook.pipeline.model.source import ModelUnknown, from_folder, from_values

LLAMA: dict[str, object] = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 1,
    "num_attention_heads": 4,
    "vocab_size": 50,
}
DEEPSEEK: dict[str, object] = {
    "model_type": "kimi_k2",
    "architectures": ["DeepseekV3ForCausalLM"],
    "auto_map": {
        "AutoConfig": "configuration_deepseek.DeepseekV3Config",
        "AutoModelForCausalLM": "modeling_deepseek.DeepseekV3ForCausalLM",
    },
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "n_routed_experts": 384,
}


@pytest.mark.parametrize(
    "table",
    [
        {},
        {"AutoModelForCausalLM": "modeling_llama.LlamaForCausalLM"},
        {"AutoConfig": "someone/other--configuration_llama.LlamaConfig"},
        {"AutoModel": "modeling_x.Other", "AutoTokenizer": ["tokens.Slow", None]},
    ],
)
def test_a_class_of_transformers_own_needs_no_trust(table: dict[str, object]) -> None:
    """That the checkpoint brings code of the same name, or other classes, does not matter."""
    found = from_values("x", {**LLAMA, "auto_map": table}, "test")
    assert ("LlamaForCausalLM", ()) == (found.model_class.__name__, found.notes)


@pytest.mark.parametrize(
    ("model_type", "listed", "named"),
    [("llama", ["EagleForCausalLM"], "EagleForCausalLM is in code"), ("eagle", ["EagleForCausalLM"], "Eagle"),
     ("eagle", [], "no model_type 'eagle'")],
)  # fmt: skip
def test_a_class_that_only_remote_code_has_is_refused(
    model_type: str, listed: list[str], named: str
) -> None:
    """No other class stands in for it, and the message says what to do."""
    table = {"AutoConfig": "configuration_eagle.C", "AutoModelForCausalLM": "a/b--modeling.EagleForCausalLM"}
    values = {**LLAMA, "model_type": model_type, "architectures": listed, "auto_map": table}
    with pytest.raises(ModelUnknown, match=named) as refused:
        from_values("x", values, "test")
    assert "put its files beside config.json and give --trust-remote-code" in str(refused.value)


def test_code_that_does_not_lie_in_the_folder_is_not_run(tmp_path: Path) -> None:
    """With trust, a class of transformers' own is taken where the files were not copied."""
    table = {"AutoConfig": "configuration_llama.LlamaConfig", "AutoModelForCausalLM": "m.LlamaForCausalLM"}
    (tmp_path / "config.json").write_text(json.dumps({**LLAMA, "auto_map": table}))
    assert "LlamaForCausalLM" == from_folder(tmp_path, trusted=True).model_class.__name__


def test_an_unknown_model_type_is_that_of_the_listed_class() -> None:
    """Kimi-K2 is a DeepSeek-V3 with other numbers; a note says so."""
    found = from_values("x", DEEPSEEK, "test")
    told = "transformers has no model_type 'kimi_k2': read as deepseek_v3, of DeepseekV3ForCausalLM"
    assert ("DeepseekV3ForCausalLM", "deepseek_v3") == (found.model_class.__name__, found.config.model_type)
    assert 384 == found.config.n_routed_experts  # type: ignore[attr-defined]
    assert (told,) == found.notes


@pytest.mark.parametrize(
    ("model_type", "listed", "taken"),
    [
        ("t5", "T5WithLMHeadModel", "T5ForConditionalGeneration"),
        ("llama", "LLaMAForCausalLM", "LlamaForCausalLM"),
        ("llama", "NoSuchModel", "LlamaForCausalLM"),
        ("mpt", "MPTForCausalLM", "MptForCausalLM"),
    ],
)
def test_old_names_of_classes_lead_to_todays(model_type: str, listed: str, taken: str) -> None:
    """By the name but for its case, else by the model type, which a note says."""
    found = from_values("x", {"model_type": model_type, "architectures": [listed]}, "test")
    same = listed.casefold() == taken.casefold()
    told = f"transformers has no {listed}: taken is {taken}, the usual class of {model_type}"
    assert (taken, () if same else (told,)) == (found.model_class.__name__, found.notes)


PARTS = {
    "text_config": {**LLAMA, "head_dim": 8},
    "vision_config": {
        "model_type": "clip_vision_model",
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 1,
        "num_attention_heads": 4,
        "image_size": 28,
        "patch_size": 14,
    },
}


@pytest.mark.parametrize(
    ("values", "phases"),
    [
        (LLAMA, ["prefill", "decode"]),
        ({"model_type": "llava", "image_token_index": 9, **PARTS}, ["prefill", "decode"]),
        ({**LLAMA, "model_type": "granitemoe", "num_local_experts": 4}, ["prefill", "decode"]),
        ({**LLAMA, "model_type": "bert"}, ["prefill"]),
        ({"model_type": "clip"}, ["prefill"]),
    ],
)
def test_a_model_that_hands_use_cache_on_has_a_decode(values: dict[str, object], phases: list[str]) -> None:
    """Also where forward() takes it among further arguments; one that writes no tokens has none."""
    names = {"llava": "LlavaForConditionalGeneration", "granitemoe": "GraniteMoeForCausalLM"}
    kind = str(values["model_type"])
    listed = [names.get(kind, {"bert": "BertModel", "clip": "CLIPModel"}.get(kind, "LlamaForCausalLM"))]
    found = from_values("x", {**values, "architectures": listed}, "test")
    assert phases == [one.name for one in phases_of(found.model_class, found.config)]


SPELLINGS = ["float16", "torch.float16", "auto", "half", "fp16", {"": "float16", "text_config": "bfloat16"}]


@pytest.mark.parametrize("field", ["dtype", "torch_dtype"])
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_config_is_read_however_its_number_format_is_spelt(field: str, spelling: object) -> None:
    """Also that of a part: no formula depends on it."""
    found = from_values("x", {**LLAMA, field: spelling}, "test")
    assert from_values("x", LLAMA, "test").config.to_dict() == found.config.to_dict()
    parts = {"text_config": {**LLAMA, field: spelling}, "vision_config": {field: spelling}}
    llava = {"model_type": "llava", "architectures": ["LlavaForConditionalGeneration"], **parts}
    assert 32 == from_values("x", llava, "test").config.text_config.hidden_size  # type: ignore[attr-defined]


def test_a_note_says_that_a_quantised_checkpoint_is_told_as_the_plain_model() -> None:
    """Widths are those that are asked for."""
    found = from_values("x", {**LLAMA, "quantization_config": {"quant_method": "awq", "bits": 4}}, "test")
    assert any("quantization_config: awq" in note for note in found.notes)
    assert not from_values("x", {**LLAMA, "quantization_config": {}}, "test").notes

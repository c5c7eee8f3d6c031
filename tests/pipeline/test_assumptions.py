"""What formulas take for granted of a config, in words: all that is no size and that costs follow from."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("transformers")
from torch import nn
from transformers import (
    FastSpeech2ConformerHifiGan,
    FastSpeech2ConformerHifiGanConfig,
    GraniteMoeHybridConfig,
    GraniteMoeHybridModel,
    LlamaConfig,
    LlamaForCausalLM,
    LlamaModel,
    SwinConfig,
    SwinModel,
    ViTConfig,
    ViTModel,
)

from forwardbook.analyzers.instances.pretrained.configs import ask_sizes
from forwardbook.analyzers.instances.recipe import Recipe, Sizes
from forwardbook.pipeline.derivation.assumptions import left_out
from forwardbook.pipeline.derivation.unsized import Unsized

MODELING = "transformers.models.fastspeech2_conformer.modeling_fastspeech2_conformer"
HIFIGAN = f"{MODELING}.FastSpeech2ConformerHifiGan"
VIT = "transformers.models.vit.modeling_vit"
GRANITE = "transformers.models.granitemoehybrid.modeling_granitemoehybrid"
LLAMA = "transformers.models.llama.modeling_llama"
SWIN = "transformers.models.swin.modeling_swin"


def _told(target: str, model: type[nn.Module], config_class: type, **fields: object) -> tuple[str, ...]:
    def build(sizes: Sizes) -> nn.Module:
        config = config_class(**fields)
        ask_sizes(config, sizes)
        return model(config)

    recipe = Recipe(target, "transformers", build, lambda sizes, module, maker: ((), {}))
    return left_out(recipe, [target])


def test_a_list_of_numbers_that_a_class_reads_is_told() -> None:
    told = _told(HIFIGAN, FastSpeech2ConformerHifiGan, FastSpeech2ConformerHifiGanConfig)
    assert "a config with upsample_rates=[8, 8, 2, 2]" in told


def test_which_kind_of_layer_stands_where_is_told_by_whichever_name_a_class_reads_it() -> None:
    """The costs of a model of Mamba layers are not those of one that has attention among them."""
    fields = {"num_hidden_layers": 2, "layer_types": ["mamba", "attention"], "num_local_experts": 2}
    told = _told(f"{GRANITE}.GraniteMoeHybridModel", GraniteMoeHybridModel, GraniteMoeHybridConfig, **fields)
    types = list(GraniteMoeHybridConfig(**fields).layer_types)
    assert f"a config with layer_types={json.dumps(types)}" in told


def test_a_list_that_was_asked_for_as_sizes_is_not_told() -> None:
    told = _told(HIFIGAN, FastSpeech2ConformerHifiGan, FastSpeech2ConformerHifiGanConfig)
    assert not any("upsample_kernel_sizes" in one for one in told)


def test_what_a_class_does_not_read_is_not_told() -> None:
    assert () == _told(f"{VIT}.ViTSelfOutput", ViTModel, ViTConfig, num_hidden_layers=1)


def test_the_names_of_labels_are_no_numbers() -> None:
    told = _told(f"{VIT}.ViTForImageClassification", ViTModel, ViTConfig, num_hidden_layers=1)
    assert not any("label" in one for one in told)


@pytest.mark.parametrize("bias", [False, True])
def test_a_switch_that_a_class_reads_is_told(bias: bool) -> None:
    told = _told(f"{LLAMA}.LlamaAttention", LlamaModel, LlamaConfig, num_hidden_layers=1, attention_bias=bias)
    assert ("a config with attention_bias=true" if bias else "a config with attention_bias=false") in told


def test_a_name_and_a_ratio_are_told_and_what_changes_only_values_is_not() -> None:
    told = _told(f"{SWIN}.SwinMLP", SwinModel, SwinConfig)
    assert told == ("a config with mlp_ratio=4.0", 'a config with hidden_act="gelu"')


def test_how_many_layers_there_are_is_no_condition() -> None:
    told = _told(f"{LLAMA}.LlamaModel", LlamaModel, LlamaConfig, num_hidden_layers=1)
    assert not any("num_hidden_layers" in one for one in told)


@pytest.mark.parametrize("tied", [False, True])
def test_whether_weights_are_tied_is_told_of_the_model_that_names_them(tied: bool) -> None:
    fields = {"num_hidden_layers": 1, "tie_word_embeddings": tied}
    said = f"a config with tie_word_embeddings={str(tied).lower()}"
    assert said in _told(f"{LLAMA}.LlamaForCausalLM", LlamaForCausalLM, LlamaConfig, **fields)
    assert said not in _told(f"{LLAMA}.LlamaModel", LlamaForCausalLM, LlamaConfig, **fields)


TWO = Unsized(
    "Model",
    (("text_config.", "act", "the text's"), ("vision_config.", "act", "the image's")),
    {"Text": frozenset({"text_config."})},
)


def test_of_two_configs_within_one_a_class_reads_that_which_its_modules_keep() -> None:
    assert list(TWO.of({"Text": {"act"}})) == ["the text's"]


def test_a_class_that_keeps_no_config_may_read_any_within() -> None:
    assert list(TWO.of({"MLP": {"act"}})) == ["the text's", "the image's"]


def test_fields_come_in_the_order_of_the_config() -> None:
    found = Unsized("Model", (("", "act", "first"), ("", "bias", "second")))
    assert list(found.of({"One": {"bias"}, "Other": {"act"}})) == ["first", "second"]

"""Base models of transformers are built from default configs and run on what their signatures ask for."""

from __future__ import annotations

import importlib
import json
import random
from pathlib import Path

import pytest
import torch

from forwardbook.analyzers.instances.adapters.transformers_library import TransformersAdapter
from forwardbook.analyzers.instances.draw import ChosenSizes, draw_sizes, scaled
from forwardbook.analyzers.instances.pretrained.configs import ask_sizes, make_config
from forwardbook.analyzers.instances.pretrained.models import instantiate, model_types_of, tree_classes
from forwardbook.analyzers.instances.recipe import InstanceOptions, NoRecipe, Recipe
from forwardbook.analyzers.instances.recipes import recipes_for
from forwardbook.analyzers.instances.tensors import PlainMaker

BASES = {
    "LlamaModel": "llama",
    "Qwen3Model": "qwen3",
    "Qwen3MoeModel": "qwen3_moe",
    "MixtralModel": "mixtral",
    "DeepseekV3Model": "deepseek_v3",
    "Gemma3TextModel": "gemma3",
    "Gemma3Model": "gemma3",
    "GPT2Model": "gpt2",
    "BertModel": "bert",
    "T5Model": "t5",
    "ViTModel": "vit",
    "CLIPModel": "clip",
    "CLIPTextModel": "clip",
    "CLIPVisionModel": "clip",
    "WhisperModel": "whisper",
    "SwinModel": "swin",
    "MambaModel": "mamba",
    "Mamba2Model": "mamba2",
}
DECODERS = {"llama", "qwen3", "qwen3_moe", "mixtral", "deepseek_v3", "gemma3", "gpt2"}  # of a plain cache
DECODERS |= {"t5", "whisper", "mamba", "mamba2"}  # of a cache that the model makes


def full_name(folder: str, name: str) -> str:
    return f"transformers.models.{folder}.modeling_{folder}.{name}"


def hints_of(recipe: Recipe) -> dict[str, int]:
    """Hints with widths divided by 16, so that a model fits a small machine."""
    sizes = ChosenSizes()
    with torch.device("meta"):
        recipe.build(sizes)
    return scaled(sizes.hints, 16)


def run(recipe: Recipe, sizes: dict[str, int]) -> torch.nn.Module:
    chosen = ChosenSizes(sizes)
    with torch.no_grad():
        model = recipe.build(chosen)
        args, kwargs = recipe.inputs(chosen, model, PlainMaker())
        model(*args, **kwargs)
    return model


@pytest.mark.parametrize("name", BASES)
def test_base_models_run(name: str) -> None:
    """Prefill, and decode where there is a cache, run at scaled hints in eval mode."""
    recipes = recipes_for(full_name(BASES[name], name))
    assert [recipe.scenario for recipe in recipes] == ["default", "decode"][: 1 + (BASES[name] in DECODERS)]
    for recipe in recipes:
        assert not run(recipe, hints_of(recipe)).training


@pytest.mark.slow
@pytest.mark.parametrize("name", BASES)
def test_base_models_run_at_random_sizes(name: str) -> None:
    """Three draws that meet the recipe's conditions run."""
    rng = random.Random(name)
    for recipe in recipes_for(full_name(BASES[name], name)):
        hints = hints_of(recipe)
        for _ in range(3):
            run(recipe, draw_sizes(recipe, hints, rng))


@pytest.mark.parametrize("folder", sorted(set(BASES.values())))
def test_every_class_of_the_module_has_a_recipe(folder: str) -> None:
    """Classes with a forward() in a model's tree are found, those of config variants among them."""
    module = importlib.import_module(f"transformers.models.{folder}.modeling_{folder}")
    for name, cls in vars(module).items():
        if isinstance(cls, type) and issubclass(cls, torch.nn.Module) and cls.__module__ == module.__name__:
            if cls.forward is torch.nn.Module.forward:
                continue
            recipe = recipes_for(full_name(folder, name))[0]
            with torch.device("meta"):
                assert cls in tree_classes(recipe.build(ChosenSizes()))


def test_sizes_are_asked_for_under_config_names_with_their_meaning() -> None:
    """A size is named as the field, documented as transformers documents it, and says its source."""
    asked: dict[str, tuple[int, str, str]] = {}

    def note(name: str, hint: int, meaning: str = "", source: str = "") -> int:
        asked[name] = (hint, meaning, source)
        return hint

    from transformers import LlamaConfig

    ask_sizes(make_config(LlamaConfig, InstanceOptions()), note)
    assert asked["hidden_size"] == (4096, "Dimension of the hidden representations.", "config.hidden_size")
    assert not {"bos_token_id", "pad_token_id", "initializer_range"} & asked.keys()


def test_lists_that_count_layers_are_sizes() -> None:
    """How many layers each stage has, two at most, is asked for by place; a single one is no size."""
    from transformers import HGNetV2Config

    sizes = ChosenSizes()
    ask_sizes(make_config(HGNetV2Config, InstanceOptions()), sizes)

    assert {f"stage_numb_of_layers.{stage}" for stage in range(4)} <= sizes.hints.keys()
    assert (2, None) == (sizes.hints["stage_num_blocks.2"], sizes.hints.get("stage_num_blocks.0"))


def test_nested_fields_carry_their_path() -> None:
    """Fields of a nested config are named with the config that holds them."""
    sizes = ChosenSizes()
    with torch.device("meta"):
        recipes_for(full_name("clip", "CLIPModel"))[0].build(sizes)
    assert {"text_config.hidden_size", "vision_config.hidden_size"} <= sizes.hints.keys()


def test_depth_is_cut_to_a_prefix_with_every_kind_of_layer() -> None:
    """Gemma-3 keeps five sliding layers and the full one, DeepSeek its dense layers and one of experts."""
    from transformers import DeepseekV3Config, Gemma3TextConfig

    gemma = make_config(Gemma3TextConfig, InstanceOptions())
    assert gemma.layer_types == ["sliding_attention"] * 5 + ["full_attention"]
    assert gemma.num_hidden_layers == 6
    assert make_config(DeepseekV3Config, InstanceOptions()).num_hidden_layers == 4


def test_lists_of_layer_kinds_follow_the_number_of_layers() -> None:
    """Another answer for num_hidden_layers lengthens layer_types by its own pattern."""
    from transformers import Gemma3TextConfig

    config = make_config(Gemma3TextConfig, InstanceOptions())
    ask_sizes(config, ChosenSizes({"num_hidden_layers": 8}))
    assert len(config.layer_types) == config.num_hidden_layers == 8
    assert config.layer_types[5:] == ["full_attention", "sliding_attention", "sliding_attention"]


def test_a_config_file_gives_the_hints(tmp_path: Path) -> None:
    """`--config file.json` replaces the default config."""
    file = tmp_path / "config.json"
    file.write_text(json.dumps({"hidden_size": 96, "num_attention_heads": 6, "num_key_value_heads": 2}))
    recipe = recipes_for(full_name("llama", "LlamaMLP"), InstanceOptions(config_file=file))[0]
    sizes = ChosenSizes()
    with torch.device("meta"):
        recipe.build(sizes)
    assert (sizes.hints["hidden_size"], sizes.hints["num_key_value_heads"]) == (96, 2)


@pytest.mark.parametrize("text", ["{", "[1]", ""])
def test_a_broken_config_file_is_named(tmp_path: Path, text: str) -> None:
    """A file that is no JSON object is refused with its name."""
    file = tmp_path / "broken.json"
    file.write_text(text)
    with pytest.raises(NoRecipe, match="broken.json"):
        recipes_for(full_name("llama", "LlamaMLP"), InstanceOptions(config_file=file))


def test_the_cache_of_a_decode_holds_kv_len_entries() -> None:
    """One token is new, and every layer's cache is filled, in the layout of its attention."""
    recipe = recipes_for(full_name("deepseek_v3", "DeepseekV3Attention"))[1]
    sizes = ChosenSizes()
    with torch.device("meta"):
        model = recipe.build(sizes)
        _, kwargs = recipe.inputs(sizes, model, PlainMaker("meta"))
    assert kwargs["input_ids"].shape == (3, 1)  # type: ignore[attr-defined]
    keys = kwargs["past_key_values"].layers[0].keys  # type: ignore[attr-defined]
    assert keys.shape == (3, 1, 23, sizes.hints["kv_lora_rank"])


def test_shared_classes_come_once_for_each_config() -> None:
    """CLIP's attention serves a text and a vision model, which differ in their masks."""
    recipes = recipes_for(full_name("clip", "CLIPAttention"))
    assert [recipe.scenario for recipe in recipes] == ["default", "CLIPVisionModel"]


def test_model_types_of_a_folder() -> None:
    """A folder may hold several model types."""
    assert set(model_types_of(full_name("clip", "CLIPMLP"))) == {
        "clip",
        "clip_text_model",
        "clip_vision_model",
    }


def test_a_field_counts_as_the_sum_of_others_only_where_it_is() -> None:
    """The width of a head is that of its rotated part in one family and of the whole in another."""
    from transformers import DeepseekV3Config

    asked: list[str] = []

    def note(name: str, hint: int, meaning: str = "", source: str = "") -> int:
        asked.append(name)
        return hint

    equal, other = DeepseekV3Config(), DeepseekV3Config()
    other.__dict__["head_dim"] = 2 * other.qk_rope_head_dim
    ask_sizes(equal, note)
    assert "head_dim" not in asked
    ask_sizes(other, note)

    assert "head_dim" in asked
    assert 2 * other.qk_rope_head_dim == other.head_dim


def test_a_deep_config_keeps_its_layers() -> None:
    """Depth is cut, unless all layers are asked for; experts are cut all the same."""
    from transformers import MixtralConfig

    cut, deep = (make_config(MixtralConfig, InstanceOptions(), deep=deep) for deep in (False, True))

    assert (2, 32) == (cut.num_hidden_layers, deep.num_hidden_layers)


def test_models_of_a_family_by_model_type() -> None:
    """Towers are model types of their own, heads belong to that of their config."""
    found = TransformersAdapter().models(["transformers.models.clip.modeling_clip"])

    assert {"clip", "clip_text_model", "clip_vision_model"} == found.keys()
    assert full_name("clip", "CLIPVisionModelWithProjection") in found["clip_vision_model"]
    assert full_name("clip", "CLIPModel") in found["clip"]


def test_only_the_part_that_refuses_fused_attention_is_eager() -> None:
    """Around a ResNet, which has no fused attention, the encoder and decoder of RT-DETR have it."""
    from transformers import PreTrainedModel, RTDetrConfig, RTDetrModel

    config = RTDetrConfig()
    for _ in range(2):  # the second time from a config in which the first has left its choice
        with torch.device("meta"):
            model = instantiate(RTDetrModel, config)
        parts = {type(m).__name__: m.config for m in model.modules() if isinstance(m, PreTrainedModel)}
        assert parts["RTDetrResNetBackbone"]._attn_implementation == "eager"
        assert parts["RTDetrModel"]._attn_implementation == "sdpa"

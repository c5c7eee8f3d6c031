"""What formulas take for granted of a config, in words: fields that are None, numbers that are no sizes."""

from __future__ import annotations

import pytest

pytest.importorskip("transformers")
from torch import nn
from transformers import FastSpeech2ConformerHifiGan, FastSpeech2ConformerHifiGanConfig, ViTConfig, ViTModel

from forwardbook.analyzers.instances.pretrained.configs import ask_sizes
from forwardbook.analyzers.instances.recipe import Recipe, Sizes
from forwardbook.pipeline.derivation.assumptions import left_out

MODELING = "transformers.models.fastspeech2_conformer.modeling_fastspeech2_conformer"
HIFIGAN = f"{MODELING}.FastSpeech2ConformerHifiGan"
VIT = "transformers.models.vit.modeling_vit"


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


def test_a_list_that_was_asked_for_as_sizes_is_not_told() -> None:
    told = _told(HIFIGAN, FastSpeech2ConformerHifiGan, FastSpeech2ConformerHifiGanConfig)
    assert not any("upsample_kernel_sizes" in one for one in told)


def test_what_a_class_does_not_read_is_not_told() -> None:
    assert () == _told(f"{VIT}.ViTSelfOutput", ViTModel, ViTConfig, num_hidden_layers=1)


def test_the_names_of_labels_are_no_numbers() -> None:
    told = _told(f"{VIT}.ViTForImageClassification", ViTModel, ViTConfig, num_hidden_layers=1)
    assert not any("label" in one for one in told)

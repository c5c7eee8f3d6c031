"""What lists the layers of a config follows their number, as in a config that was made with it."""

import copy

import pytest
from transformers import (
    AXK1Config,
    BeitConfig,
    Cohere2Config,
    DinatConfig,
    FlintConfig,
    Llama4TextConfig,
    LlamaConfig,
    MllamaTextConfig,
    SamVisionConfig,
    SmolLM3Config,
    SwinConfig,
    VitPoseConfig,
)

from forwardbook.analyzers.instances.pretrained.depth import cut_depth, follow_depth
from forwardbook.analyzers.symbolic.ledger import Ledger


def _deep(config, layers):
    made = copy.deepcopy(config)
    before, made.num_hidden_layers = made.num_hidden_layers, layers
    follow_depth(made, "num_hidden_layers", before)
    return made


@pytest.mark.parametrize("layers", [2, 5, 12, 30])
def test_a_backbone_has_the_stages_and_the_output_of_a_config_made_with_so_many_layers(layers):
    config = BeitConfig()
    cut_depth(config)
    made, stated = _deep(config, layers), BeitConfig(num_hidden_layers=layers)
    assert config.stage_names == ["stem", "stage1", "stage2"] and config.out_features == ["stage2"]
    assert made.stage_names == stated.stage_names
    assert (made.out_features, made.out_indices) == (stated.out_features, stated.out_indices)


def test_a_layer_whose_output_is_wanted_is_not_cut():
    backbone = VitPoseConfig().backbone_config
    assert backbone.out_features == ["stage4"] and backbone.num_hidden_layers == 12
    cut_depth(backbone)
    assert backbone.stage_names == ["stem", *(f"stage{i}" for i in range(1, 6))]
    assert _deep(backbone, 9).out_features == ["stage4"]


def test_fewer_layers_than_the_outputs_wanted_are_refused():
    with pytest.raises(ValueError, match="the output of layer 3 is wanted"):
        _deep(BeitConfig(out_indices=[1, 3]), 2)


@pytest.mark.parametrize(
    ("config_class", "field"), [(SmolLM3Config, "no_rope_layers"), (Llama4TextConfig, "moe_layers")]
)
def test_more_layers_than_the_default_has_are_listed_as_the_config_lists_them(config_class, field):
    config = config_class()
    layers = config.num_hidden_layers + 9
    cut_depth(config)
    stated = getattr(config_class(num_hidden_layers=layers), field)
    assert len(stated) == layers and getattr(_deep(config, layers), field) == stated


@pytest.mark.parametrize(
    ("config", "first"),
    [(SmolLM3Config(), 4), (MllamaTextConfig(), 4), (SamVisionConfig(), 3)],
    ids=["one number for each layer", "places of layers of another class", "places between windows"],
)
def test_layers_of_a_kind_that_numbers_tell_are_not_cut(config, first):
    """The first without positions, with attention to an image, to all of it between windows: one is left."""
    cut_depth(config)
    assert first == config.num_hidden_layers


def test_what_two_lists_say_of_one_layer_is_not_cut():
    """The first layer with experts and attention to all is the sixth: each of both comes before."""
    config = FlintConfig()
    kinds = [(kind, place in config.mlp_only_layers) for place, kind in enumerate(config.layer_types)]
    cut_depth(config)
    assert 6 == config.num_hidden_layers == 1 + kinds.index(("full_attention", False))


def test_a_list_with_a_number_for_each_layer_tells_no_kinds():
    """Where each layer takes its keys from is no kind."""
    config = LlamaConfig(num_hidden_layers=8, source_layers=list(range(8)))
    cut_depth(config)
    assert list(range(8)) == config.source_layers and 2 == config.num_hidden_layers


def test_stages_are_as_many_as_before_and_each_has_few_layers():
    """Swin's usual stages have 2, 2, 6 and 2 blocks."""
    config = SwinConfig()
    stages = config.stage_names
    cut_depth(config)
    assert list(config.depths) == [2, 2, 2, 2] and config.stage_names == stages


def test_stages_whose_layers_are_listed_one_by_one_are_not_cut():
    """Dinat says how far apart the neighbours of each layer are."""
    config = DinatConfig()
    before = list(config.depths)
    cut_depth(config)
    assert list(config.depths) == before and [len(one) for one in config.dilations] == before


def test_all_layers_after_dense_ones_have_experts():
    """One dense layer comes first and does not come round; every fourth layer with attention to all does."""
    dense, every_fourth = AXK1Config(), Cohere2Config()
    stated = list(dense.mlp_layer_types), list(every_fourth.layer_types)
    cut_depth(dense)
    cut_depth(every_fourth)
    assert (2, 4) == (dense.num_hidden_layers, every_fourth.num_hidden_layers)
    assert stated[0][:19] == _deep(dense, 19).mlp_layer_types == ["dense"] + ["sparse"] * 18
    assert stated[1][:19] == _deep(every_fourth, 19).layer_types


@pytest.mark.parametrize(("config", "needed"), [(SmolLM3Config(), ["num_hidden_layers"]), (SwinConfig(), [])])
def test_a_number_of_layers_is_needed_where_a_list_has_one_word_for_each(config, needed):
    ledger = Ledger()
    made = copy.deepcopy(config)
    before = made.num_hidden_layers
    made.__dict__["num_hidden_layers"] = ledger.symbol("num_hidden_layers", before)
    follow_depth(made, "num_hidden_layers", before)
    assert needed == [one.node.name for one in ledger.consumed]

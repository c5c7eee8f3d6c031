"""Settings of configs under which models hold classes that their default configs leave out."""

from __future__ import annotations

from collections.abc import Mapping

# Each is tried in turn when no default model holds a class; a config that lacks a field skips the variant.
VARIANTS: tuple[Mapping[str, object], ...] = (
    {},  # the default
    {"is_decoder": True, "add_cross_attention": True},  # BERT-like decoders attend to an encoder
    {"add_cross_attention": True},
    {"mlp_only_layers": [0]},  # mixtures of experts whose first layer is dense
    {"feed_forward_proj": "gated-gelu", "is_gated_act": True, "dense_act_fn": "gelu_new"},  # T5 v1.1
    {"use_bidirectional_attention": True},
    {"hybrid": True},
)


# Default configs that no model can be built from, by model type, with what they lack.
REPAIRS: dict[str, Mapping[str, object]] = {
    "esm": {"vocab_size": 33},  # the alphabet of amino acids; the default is None
    "chameleon": {"vocabulary_map": {"<image>": 8, "IMGIMGA": 9, "IMGIMGB": 10}},  # of a tokenizer
    "emu3": {  # of a tokenizer
        "vocabulary_map": {
            "<image>": 8,
            "<|extra_200|>": 9,
            "<|visual token 000000|>": 10,
            "<|visual token 000001|>": 11,
        }
    },
    "granite4_vision": {"deepstack_layer_map": [(-2, 0), (-1, 1)]},  # as published, for two layers
    "deepseek_v2": {"num_experts_per_tok": 6, "topk_group": 1},  # as published; the defaults are None
}

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


# Convolutions along and across lines of text, as published: kernel, stride, padding. The default is None.
_STRIPES: Mapping[str, object] = {
    "reduce_channel": [1, 1, 0],
    "return_channel": [1, 1, 0],
} | {
    f"{name}_{ratio}ratio": [[k if tall else 1, k if wide else 1], [1, 1], [k // 2 * tall, k // 2 * wide]]
    for name, tall, wide in (
        ("vertical_long_to_small_conv", 1, 0),
        ("horizontal_small_to_long_conv", 0, 1),
        ("symmetric_conv_long", 1, 1),
    )
    for ratio, k in (("long", 7), ("mid", 5), ("short", 3))
}
_DETECTION: Mapping[str, object] = {  # as documented, and as published; the defaults are None
    "intraclass_block_config": _STRIPES,
    "kernel_list": [3, 2, 2],
    "scale_factor_list": [1, 2, 4, 8],
}
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
    "granite4_vision": {  # as published, the map for two layers
        "deepstack_layer_map": [(-2, 0), (-1, 1)],
        "downsample_rate": "4/8",
    },
    "lw_detr": {  # as published; the default is no scale at all, from which the other two follow
        "projector_scale_factors": [1.0],
        "projector_in_channels": [256],
        "num_feature_levels": 1,
    },
    "pp_ocrv5_server_det": _DETECTION,
    "pp_ocrv6_medium_det": _DETECTION,
    "deepseek_v2": {"num_experts_per_tok": 6, "topk_group": 1},  # as published; the defaults are None
}

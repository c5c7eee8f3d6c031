"""Layers of models of images: patches, windows, convolutions, pooled heads."""

from __future__ import annotations

from typing import Final

from benchmarks.hand.build import random_tensor, rows, tensor, with_arguments, with_config
from benchmarks.hand.case import UNFUSED, Case, Inputs, Sizes
from benchmarks.hand.points import TEXT, heads

MODELS: Final = "transformers.models"
EFFICIENT: Final = f"{MODELS}.efficientnet.modeling_efficientnet"
SWIN: Final = f"{MODELS}.swin.modeling_swin"
IMAGES: Final = (
    {"batch_size": 2, "height": 13, "width": 16, "num_channels": 3, "patch_size": 4, "hidden_size": 10},
    {"batch_size": 3, "height": 20, "width": 11, "num_channels": 5, "patch_size": 3, "hidden_size": 14},
)
MAPS: Final = (
    {"batch_size": 2, "height": 9, "width": 6, "dim": 5, "in_channels": 4, "out_channels": 7, "stride": 2},
    {"batch_size": 3, "height": 8, "width": 11, "dim": 4, "in_channels": 6, "out_channels": 5, "stride": 1},
)
BLOCKS: Final = (
    {"batch_size": 4, "height": 9, "width": 6, "in_dim": 8, "out_dim": 11, "stride": 2}
    | {"expand_ratio": 3, "kernel_size": 3},
    {"batch_size": 2, "height": 8, "width": 11, "in_dim": 13, "out_dim": 6, "stride": 1}
    | {"expand_ratio": 2, "kernel_size": 5},
)
WINDOWS: Final = (
    {"batch_size": 6, "window_size": 3, "num_attention_heads": 2, "head_dim": 5},
    {"batch_size": 4, "window_size": 2, "num_attention_heads": 3, "head_dim": 4},
)
GATED: Final = (
    {"batch_size": 2, "seq_len": 5, "hidden_size": 12, "mlp_ratio": 4},
    {"batch_size": 3, "seq_len": 7, "hidden_size": 22, "mlp_ratio": 3},
)
ENCODER: Final = (
    "4 * {batch_size} * {seq_len} * {hidden_size} * (2 * {hidden_size} + {seq_len} + {intermediate_size})"
)
ENCODER_WEIGHTS: Final = (
    "({hidden_size} * (4 * {hidden_size} + 2 * {intermediate_size} + 9) + {intermediate_size}) "
    "* {w_dtype_bytes}"
)
HALVES: Final = "ceil({height} / 2) * ceil({width} / 2)"
STRIDED: Final = {"out_height": "ceil({height} / {stride})", "out_width": "ceil({width} / {stride})"}


def map_and_size(sizes: Sizes) -> Inputs:
    """The rows of a map of features as a sequence, and its height and width."""
    positions = sizes.height * sizes.width
    return (random_tensor(sizes, "batch_size", positions, "dim"), (sizes.height, sizes.width)), {}


CASES: Final = (
    Case(
        f"{MODELS}.vit.modeling_vit.ViTPatchEmbeddings",
        "2 * {batch_size} * {num_patches} * {num_channels} * {patch_size} * {patch_size} * {hidden_size}",
        "every patch that fits is one product with hidden_size; a bias each",
        with_config("ViTConfig"),
        tensor("batch_size", "num_channels", "height", "width"),
        IMAGES,
        where={"num_patches": "floor({height} / {patch_size}) * floor({width} / {patch_size})"},
        weights="{hidden_size} * ({num_channels} * {patch_size} * {patch_size} + 1) * {w_dtype_bytes}",
        pointwise_ops="{batch_size} * {num_patches} * {hidden_size}",
    ),
    Case(
        f"{MODELS}.vit.modeling_vit.ViTLayer",
        ENCODER,
        "attention and two products with intermediate_size; biases and two norms",
        with_config("ViTConfig"),
        rows("hidden_size"),
        TEXT,
        relations=heads(),
        weights=ENCODER_WEIGHTS,
    ),
    Case(
        f"{MODELS}.deit.modeling_deit.DeiTLayer",
        ENCODER,
        "as ViT's",
        with_config("DeiTConfig"),
        rows("hidden_size"),
        TEXT,
        relations=heads(),
        weights=ENCODER_WEIGHTS,
    ),
    Case(
        f"{SWIN}.SwinAttention",
        "4 * {batch_size} * {seq_len} * {hidden_size} * (2 * {hidden_size} + {seq_len})",
        "dense attention within each window; the batch has a row for each window",
        with_config("SwinConfig", "hidden_size", "num_attention_heads", "window_size"),
        rows("hidden_size"),
        WINDOWS,
        relations={"seq_len": "{window_size} * {window_size}", **heads()},
    ),
    Case(
        f"{SWIN}.SwinPatchMerging",
        f"16 * {{batch_size}} * {HALVES} * {{dim}} * {{dim}}",
        "four neighbours, of 4 dim together, are normed and halved by one product; an odd side is padded",
        with_arguments("dim"),
        map_and_size,
        MAPS,
        weights="8 * {dim} * ({dim} + 1) * {w_dtype_bytes}",
        pointwise_ops=f"32 * {{batch_size}} * {HALVES} * {{dim}}",
    ),
    Case(
        f"{MODELS}.convnext.modeling_convnext.ConvNextLayer",
        "2 * {batch_size} * {height} * {width} * {dim} * (8 * {dim} + 49)",
        "a depthwise window of 7 x 7, then two products that widen four times; an element of the input has 3 "
        "biases and GELU in 10 of the pointwise operations, the norm in 8, scale and residual in 2",
        with_config("ConvNextConfig", "dim"),
        tensor("batch_size", "dim", "height", "width"),
        MAPS,
        weights="{dim} * (8 * {dim} + 58) * {w_dtype_bytes}",
        pointwise_ops="20 * {batch_size} * {height} * {width} * {dim}",
    ),
    Case(
        f"{MODELS}.resnet.modeling_resnet.ResNetBasicLayer",
        "2 * {batch_size} * {out_height} * {out_width} * {out_channels} * (10 * {in_channels} "
        "+ 9 * {out_channels})",
        "two windows of 3 x 3, and one of 1 x 1 beside them; three norms of 4, two ReLUs and a sum an "
        "element",
        with_arguments("in_channels", "out_channels", "stride"),
        tensor("batch_size", "in_channels", "height", "width"),
        MAPS,
        call="another number of channels",
        where=STRIDED,
        weights="{out_channels} * (10 * {in_channels} + 9 * {out_channels} + 12) * {w_dtype_bytes}",
        pointwise_ops="15 * {batch_size} * {out_height} * {out_width} * {out_channels}",
    ),
    Case(
        f"{EFFICIENT}.EfficientNetBlock",
        "2 * {batch_size} * {expand_in_dim} * ({height} * {width} * {in_dim} + {out_height} * {out_width} "
        "* ({kernel_size} * {kernel_size} + {out_dim}) + 2 * {dim_se})",
        "1 x 1 before the stride; depthwise; squeezed to one pixel, to dim_se and back; 1 x 1",
        with_config(
            "EfficientNetConfig",
            *("in_dim", "out_dim", "stride", "expand_ratio", "kernel_size"),
            drop_rate=0.0,
            id_skip=True,
            adjust_padding=False,
        ),
        tensor("batch_size", "in_dim", "height", "width"),
        BLOCKS,
        call="expand_ratio != 1",
        where={
            **STRIDED,
            "expand_in_dim": "{in_dim} * {expand_ratio}",
            "dim_se": "max(1, floor({in_dim} / 4))",
        },
    ),
    Case(
        f"{MODELS}.clip.modeling_clip.CLIPAttention",
        "4 * {batch_size} * {seq_len} * {hidden_size} * (2 * {hidden_size} + {seq_len})",
        "four square projections and dense attention",
        with_config("CLIPVisionConfig"),
        rows("hidden_size"),
        TEXT,
        relations=heads(),
        weights="4 * {hidden_size} * ({hidden_size} + 1) * {w_dtype_bytes}",
    ),
    Case(
        f"{MODELS}.clip.modeling_clip.CLIPMLP",
        "4 * {batch_size} * {seq_len} * {hidden_size} * {intermediate_size}",
        "there and back; x * sigmoid(1.702 * x) is three operations, a bias one",
        with_config("CLIPVisionConfig"),
        rows("hidden_size"),
        TEXT,
        weights="(2 * {hidden_size} * {intermediate_size} + {intermediate_size} + {hidden_size}) "
        "* {w_dtype_bytes}",
        pointwise_ops="{batch_size} * {seq_len} * (4 * {intermediate_size} + {hidden_size})",
    ),
    Case(
        f"{MODELS}.siglip.modeling_siglip.SiglipMultiheadAttentionPoolingHead",
        "4 * {batch_size} * {hidden_size} * ({seq_len} * ({hidden_size} + 1) + {hidden_size} "
        "+ {intermediate_size})",
        "one learned query attends to all positions: only keys and values are projected there",
        with_config("SiglipVisionConfig"),
        rows("hidden_size"),
        TEXT,
        weights="({hidden_size} * (4 * {hidden_size} + 2 * {intermediate_size} + 8) + {intermediate_size}) "
        "* {w_dtype_bytes}",
        judge=UNFUSED,
    ),
    Case(
        f"{MODELS}.dinov2.modeling_dinov2.Dinov2SwiGLUFFN",
        "6 * {batch_size} * {seq_len} * {hidden_size} * {hidden_features}",
        "gate, up and down with biases; two thirds of the width of the MLP, in eights",
        with_config("Dinov2Config"),
        rows("hidden_size"),
        GATED,
        where={"hidden_features": "8 * ceil(floor(2 * {hidden_size} * {mlp_ratio} / 3) / 8)"},
        weights="(3 * {hidden_size} * {hidden_features} + 2 * {hidden_features} + {hidden_size}) "
        "* {w_dtype_bytes}",
        pointwise_ops="{batch_size} * {seq_len} * (4 * {hidden_features} + {hidden_size})",
    ),
)

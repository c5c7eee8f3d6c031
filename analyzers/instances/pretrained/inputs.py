"""A model and its config in; out the inputs that its forward() signature asks for, in the notation."""

from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from forwardbook.analyzers.instances.notation import Reader
from forwardbook.analyzers.instances.pretrained.configs import parts
from forwardbook.analyzers.instances.recipe import InputMaker, Sizes

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedModel

Plan = Mapping[str, str]  # forward() parameter -> expression of the notation

# Sizes that no config knows: name, hint, meaning.
FREE: dict[str, tuple[int, str]] = {
    "batch_size": (3, "independent samples in the input"),
    "seq_len": (17, "positions in the sequence"),
    "decoder_seq_len": (13, "positions in the decoder's sequence"),
    "encoder_seq_len": (11, "positions in the encoder's output"),
    "num_samples": (16000, "samples of the waveform"),
    "num_regions": (10, "regions found in the image"),
}
# Names in the expressions -> config fields that hold them, and what to take when none does.
FIELDS: dict[str, tuple[tuple[str, ...], int]] = {
    "hidden_size": (("hidden_size", "d_model", "n_embd", "embed_dim", "dim", "encoder_dim"), 64),
    "num_channels": (("num_channels", "in_channels", "in_chans"), 3),
    "num_series": (("num_input_channels",), 1),
    "num_frames": (("num_frames", "frames_per_clip"), 8),
    "mel_bins": (
        (
            "num_mel_bins",
            "num_mel_channels",
            "feature_size",
            "input_feat_per_channel",
            "n_mels",
            "input_dim",
            "feature_projection_input_dim",
        ),
        80,
    ),
    "source_positions": (("max_source_positions", "max_position_embeddings"), 1500),
    "patch_size": (("patch_size", "spatial_patch_size"), 16),
    "temporal_patch_size": (("temporal_patch_size",), 2),
    "codebooks": (("num_codebooks", "num_quantizers", "n_codes_total"), 8),
    "state_dim": (("state_dim",), 17),
    "act_dim": (("act_dim",), 4),
    "visual_feat_dim": (("visual_feat_dim",), 2048),
    "context_length": (("context_length", "prediction_length"), 64),
    "tiles": (("max_num_tiles",), 4),
    "lags": (("lags_sequence",), 0),
    "time_features": (("num_time_features",), 1),
    "image_height": (("image_size", "img_size", "input_size"), 224),
    "image_width": (("image_size", "img_size", "input_size"), 224),
}
PAIRS = {"image_height": 0, "image_width": -1, "lags": -1}  # which of several numbers is meant
IMAGE = "floats(batch_size, num_channels, image_height, image_width)"
FILM = "floats(batch_size, num_frames, num_channels, image_height, image_width)"
PATCHES = "floats(64, num_channels * temporal_patch_size * patch_size * patch_size)"
# Ids that are in every vocabulary and are neither padding (0) nor, as a rule, placeholders of images.
TOKENS = "integers(7, batch_size, seq_len, low=1)"
STATES = "floats(batch_size, seq_len, hidden_size)"
MASK = "full(1, batch_size, seq_len)"
MEL = "floats(batch_size, mel_bins, 2 * source_positions)"  # the front end halves the frames
WAVE = "floats(batch_size, num_samples)"

# forward() parameters by name -> what they take, likeliest first.
PARAMETERS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        r"decoder_input_ids",
        (
            "integers(7, batch_size, decoder_seq_len, low=1)",
            "integers(2, batch_size, decoder_seq_len, num_channels)",
            "integers(2, batch_size * codebooks, decoder_seq_len)",
        ),
    ),
    (
        r"input_ids|.*_input_ids|input_tokens",
        (
            TOKENS,
            "integers(7, batch_size, seq_len, codebooks, low=1)",
            "integers(7, batch_size, codebooks, seq_len, low=1)",
            "integers(7, batch_size, source_positions, low=1)",
        ),
    ),
    (r"encoder_hidden_states", ("floats(batch_size, encoder_seq_len, hidden_size)",)),
    (r"decoder_attention_mask", ("full(1, batch_size, decoder_seq_len)",)),
    (r"pixel_mask", ("full(1, batch_size, image_height, image_width)",)),
    (r"bbox|input_boxes", ("full(0, batch_size, seq_len, 4)",)),
    (r"token_type_ids", ("full(0, batch_size, seq_len)",)),
    (
        r"input_features_mask|feature_attention_mask|audio_attention_mask|input_features_attention_mask",
        ("full(1, batch_size, 2 * source_positions)", MASK),
    ),
    (r"aspect_ratio_ids", ("integers(4, batch_size, 1)",)),
    (r"aspect_ratio_mask", ("full(1, batch_size, 1, tiles)",)),
    (
        r"past_observed_mask",
        ("full(1, batch_size, context_length + lags)", "full(1, batch_size, context_length, num_series)"),
    ),
    (r".*mask.*", (MASK, "full(1, batch_size, 64)", "full(1, batch_size, seq_len, 1)")),
    (
        r"pixel_values|images?|pixel_values_images|image_pixel_values|sample|input|x",
        (
            IMAGE,
            FILM,
            PATCHES,
            "floats(batch_size, 1, num_channels, image_height, image_width)",
            "floats(batch_size, 2, num_channels, image_height, image_width)",
            "floats(batch_size, 64, num_channels * patch_size * patch_size)",
            "floats(batch_size, 144, num_channels * patch_size * patch_size)",  # for poolings
            "floats(batch_size, num_channels, 2 * image_height, 2 * image_width)",
            "floats(batch_size, num_channels, 4 * image_height, 4 * image_width)",
            "floats(batch_size, 1, tiles, num_channels, image_height, image_width)",
        ),
    ),
    (r"pixel_values_videos?|video", (FILM, PATCHES)),
    (r"(image_|video_)?grid_thw|grid_thws", ("values([[1, 8, 8]])",)),
    (r"(image_)?grid_hw|target_sizes|spatial_shapes", ("values([[8, 8]])", "full(8, batch_size, 2)")),
    (r"image_sizes", ("full(image_height, batch_size, 2)", "values([[224, 224]])")),
    (
        r"input_values|audio|waveform|speech",
        (WAVE, "floats(batch_size, 1, num_samples)", MEL, "floats(batch_size, 1024, mel_bins)"),
    ),
    (
        r"input_features|audio_features|input_audio|audio_mel|spectrogram|audio_input_features|features",
        (
            MEL,
            "floats(batch_size, seq_len, mel_bins)",
            "floats(batch_size, mel_bins, 256)",
            "floats(batch_size, 256, mel_bins)",
            "floats(batch_size, 1, 1024, mel_bins)",
            WAVE,
        ),
    ),
    (
        r"past_values",
        ("floats(batch_size, context_length + lags)", "floats(batch_size, context_length, num_series)"),
    ),
    (r"future_values", ("floats(batch_size, context_length)",)),
    (r"past_time_features", ("floats(batch_size, context_length + lags, time_features)",)),
    (r"future_time_features", ("floats(batch_size, context_length, time_features)",)),
    (r"flattened_patches", ("floats(batch_size, 32, 2 + num_channels * patch_size * patch_size)",)),
    (r"states", ("floats(batch_size, seq_len, state_dim)",)),
    (r"actions", ("floats(batch_size, seq_len, act_dim)",)),
    (r"rewards|returns_to_go", ("floats(batch_size, seq_len, 1)",)),
    (r"timesteps?", ("full(1, batch_size, seq_len)", "floats(batch_size)")),
    (r"visual_feats", ("floats(batch_size, num_regions, visual_feat_dim)",)),
    (r"visual_pos", ("floats(batch_size, num_regions, 4)",)),
    (r"audio_codes|codes", ("integers(2, batch_size, codebooks, seq_len)",)),
    (r"(pixel|image|patch)_position_ids", ("integers(12, batch_size, 144, 2)", TOKENS)),
    (r".*_ids", (TOKENS,)),
    (r".*", (STATES, "floats(batch_size, hidden_size)", "floats(batch_size, hidden_size, seq_len)")),
)
GRID = re.compile(r"(image_|video_)?grid_(thw|hw)|grid_thws")  # patches per image: time, rows, columns
# Parameters without which a signature that has them does not run, though it gives them a default.
NEEDED = ("bbox", "visual_feats", "visual_pos")
WITH_IMAGES = ("input_ids",)  # models of two towers compare an image with a text


def plans(model: PreTrainedModel) -> list[Plan]:
    """What to call forward() with, likeliest first; every plan is a set of expressions."""
    names, needed = _needed(model)
    gridded = any(GRID.fullmatch(name) for name in needed)
    choices = [(name, options_beside(name, gridded)) for name in needed]
    first = {name: options[0] for name, options in choices}
    found: list[dict[str, str]] = [first]
    found += [{**first, name: option} for name, options in choices for option in options[1:]]
    grids = [name for name in names if GRID.fullmatch(name)]
    if grids and not set(grids) & set(needed):
        found += [{**plan, grids[0]: expressions(grids[0])[0]} for plan in list(found)]
    if "attention_mask" in names and "attention_mask" not in needed:
        found.append({**first, "attention_mask": MASK})
    settings = {"use_cache": "False"} if "use_cache" in names else {}
    return [{**plan, **settings} for plan in found]


def options_beside(name: str, gridded: bool) -> tuple[str, ...]:
    """What a parameter takes; beside a grid, images come as rows of patches."""
    if gridded and name in ("hidden_states", "pixel_values", "pixel_values_videos"):
        return (PATCHES, "floats(64, num_channels * patch_size * patch_size)", *expressions(name))
    return expressions(name)


def expressions(name: str) -> tuple[str, ...]:
    """What a forward() parameter of that name takes, likeliest first."""
    return next(options for pattern, options in PARAMETERS if re.fullmatch(pattern, name))


def _needed(model: PreTrainedModel) -> tuple[list[str], list[str]]:
    """The parameters of forward(), and those that a call must give."""
    described = inspect.signature(type(model).forward).parameters.values()
    given = [p for p in described if p.name != "self" and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
    names = [p.name for p in given]
    main = model.main_input_name
    if main not in names:
        usual = (
            "input_ids",
            "pixel_values",
            "input_features",
            "input_values",
            "hidden_states",
            "inputs_embeds",
        )
        main = next((name for name in (*usual, *names) if name in names), main)
    needed = [main, *(p.name for p in given if p.default is p.empty)]
    encodes = getattr(model.config, "is_encoder_decoder", False) or main not in ("input_ids", "inputs_embeds")
    if "decoder_input_ids" in names and encodes:
        needed.append("decoder_input_ids")
    if main == "pixel_values":
        needed += [name for name in WITH_IMAGES if name in names]
    elif main == "input_ids" and "pixel_values" in names and not _has_image_token(model.config):
        needed.append("pixel_values")
    if getattr(model.config, "add_cross_attention", False) and "encoder_hidden_states" in names:
        needed.append("encoder_hidden_states")
    needed += [name for name in NEEDED if name in names]
    return names, list(dict.fromkeys(needed))


def _has_image_token(config: PreTrainedConfig) -> bool:
    """Whether images enter among the tokens, so that a text alone is a whole input."""
    return any(
        hasattr(config, name) for name in ("image_token_id", "image_token_index", "vision_start_token_id")
    )


def make_inputs(plan: Plan, sizes: Sizes, config: PreTrainedConfig, maker: InputMaker) -> dict[str, object]:
    """The keyword arguments of a plan."""
    reader = Reader(lambda name: field_size(name, sizes, config), maker)
    return {name: reader.read(text) for name, text in plan.items()}


def field_size(name: str, sizes: Sizes, config: PreTrainedConfig | None) -> object:
    """A name in an expression: a free size, or what the config has under one of the fields that hold it."""
    if name in FREE:
        hint, meaning = FREE[name]
        return sizes(name, hint, meaning, "forward")
    fields, otherwise = FIELDS[name]
    if config is None:
        return sizes(name, otherwise, "", "forward")
    value = next(_values(config, fields), otherwise)
    return _one_of(value, PAIRS.get(name, 0), otherwise)


def _values(config: PreTrainedConfig, names: tuple[str, ...]) -> Iterator[object]:
    for part, name in itertools.product(parts(config), names):
        value = getattr(part, name, None)
        if value is not None:
            yield value


def _one_of(value: object, index: int, otherwise: int) -> object:
    """A number out of a pair, or of `{"height": ..., "width": ...}`."""
    if isinstance(value, dict):
        return value.get("width" if index else "height", value.get("shortest_edge", otherwise))
    if isinstance(value, list | tuple):
        return value[index] if value else otherwise
    return value

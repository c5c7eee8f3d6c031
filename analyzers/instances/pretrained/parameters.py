"""What parameters of forward() take, by their names, and the sizes that stand in those expressions."""

from __future__ import annotations

# Sizes that no config knows: name, hint, meaning.
FREE: dict[str, tuple[int, str]] = {
    "batch_size": (3, "independent samples in the input"),
    "seq_len": (17, "positions in the sequence"),
    "decoder_seq_len": (13, "positions in the decoder's sequence"),
    "encoder_seq_len": (11, "positions in the encoder's output"),
    "num_samples": (16000, "samples of the waveform"),
    "grid_height": (8, "rows of patches in an image"),
    "grid_width": (8, "columns of patches in an image"),
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
            "mel_dim",
        ),
        80,
    ),
    "source_positions": (("max_source_positions", "max_position_embeddings"), 1500),
    "patch_size": (("patch_size", "spatial_patch_size"), 16),
    "temporal_patch_size": (("temporal_patch_size",), 2),
    "codebooks": (("num_codebooks", "num_quantizers", "n_codes_total"), 8),
    "decoder_codebooks": (("num_codebooks",), 8),  # and not those of a codec beside the decoder
    "state_dim": (("state_dim",), 17),
    "act_dim": (("act_dim",), 4),
    "visual_feat_dim": (("visual_feat_dim",), 2048),
    "context_length": (("context_length", "prediction_length"), 64),
    "tiles": (("max_num_tiles",), 4),
    "lags": (("lags_sequence",), 0),
    "time_features": (("num_time_features",), 1),
    "merged": (("spatial_merge_size",), 2),
    "documents": (("n_docs",), 5),
    "task_len": (("task_seq_len",), 77),
    "image_height": (("image_size", "img_size", "input_size"), 224),
    "image_width": (("image_size", "img_size", "input_size"), 224),
}
# What those of them mean that are a size of the input where no config has them.
UNSTATED: dict[str, str] = {
    "image_height": "rows of pixels in an image",
    "image_width": "columns of pixels in an image",
}
PAIRS = {"image_height": 0, "image_width": -1, "lags": -1}  # which of several numbers is meant
IMAGE = "floats(batch_size, num_channels, image_height, image_width)"
FILM = "floats(batch_size, num_frames, num_channels, image_height, image_width)"
# Several images for each text; one that is 0 everywhere would be padding, and left out.
SHOWN = "ones(batch_size, {}, num_channels, image_height, image_width)"
PATCHES = "floats(grid_height * grid_width, num_channels * temporal_patch_size * patch_size * patch_size)"
# Rows of patches, as grids lay them out.
OF_GRIDS = (
    PATCHES,
    "floats(grid_height * grid_width, num_channels * patch_size * patch_size)",
    "floats(grid_height * grid_width, num_channels, patch_size, patch_size)",
    "floats(1, grid_height * grid_width, num_channels, patch_size, patch_size)",
    "floats(grid_height * grid_width, merged * patch_size, merged * patch_size, num_channels)",
    "floats(1, grid_height * grid_width, num_channels * temporal_patch_size * patch_size * patch_size)",
)
# One row of patches, told apart by the rows and columns of patches that each image has.
IN_A_ROW = "floats(1, num_channels, patch_size, grid_height * grid_width * patch_size)"
# Ids that are in every vocabulary and are neither padding (0) nor, as a rule, placeholders of images.
TOKENS = "integers(7, batch_size, seq_len, low=1)"
DISTINCT = "integers(seq_len + 1, batch_size, seq_len, low=1)"  # each once in every sequence
STATES = "floats(batch_size, seq_len, hidden_size)"
MASK = "full(1, batch_size, seq_len)"
HALF = "floats(batch_size, num_channels, image_height // 2, image_width)"  # one of two, one below the other
MEL = "floats(batch_size, mel_bins, 2 * source_positions)"  # the front end halves the frames
FRAMES = 200  # whole chunks of 100, the usual front end's
FLAGS = ("mask(batch_size, seq_len)", "mask(batch_size, 64)")
WAVE = "floats(batch_size, num_samples)"
COUNT = "2"  # the least that is not one: of steps, say
# Where no name tells what a parameter takes.
ANYTHING = (STATES, "floats(batch_size, hidden_size)", "floats(batch_size, hidden_size, seq_len)")
NAMELESS = 16  # of a size that only a docstring names

# forward() parameters by name -> what they take, likeliest first.
PARAMETERS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        r"decoder_input_ids",
        (
            "integers(7, batch_size, decoder_seq_len, low=1)",
            "integers(2, batch_size, decoder_seq_len, num_channels)",
            "integers(2, batch_size * decoder_codebooks, decoder_seq_len)",
            "integers(2, batch_size * codebooks, decoder_seq_len)",
        ),
    ),
    (r"context_input_ids", ("integers(7, batch_size * documents, seq_len, low=1)",)),
    (r"context_attention_mask", ("full(1, batch_size * documents, seq_len)",)),
    (r"doc_scores", ("floats(batch_size, documents)",)),
    (
        r"input_ids|.*_input_ids|input_tokens|tokens",
        (
            TOKENS,
            "integers(7, batch_size, source_positions, low=1)",
            "integers(7, batch_size, seq_len, codebooks, low=1)",
            "integers(7, batch_size, codebooks, seq_len, low=1)",
        ),
    ),
    (
        r"encoder_hidden_states",
        ("floats(batch_size, encoder_seq_len, hidden_size)", "floats(batch_size, 64, hidden_size)"),
    ),
    (r"decoder_attention_mask", ("full(1, batch_size, decoder_seq_len)",)),
    (r"prompt_(pixel_values|masks)", (HALF,)),
    (r"pixel_mask", ("full(1, batch_size, image_height, image_width)",)),
    (r"bbox|input_boxes", ("full(0, batch_size, seq_len, 4)",)),
    (r".*type_ids", ("full(0, batch_size, seq_len)",)),  # however few types there are, there is a first
    (
        r"input_features_mask|feature_attention_mask|audio_attention_mask|input_features_attention_mask",
        ("full(1, batch_size, 2 * source_positions)", MASK),
    ),
    (r"(spkr|speaker|lang|language)_id", ("integers(2, batch_size, 1)",)),  # of each sample
    (r"aspect_ratio_ids", ("integers(4, batch_size, 1)",)),
    (r"aspect_ratio_mask", ("full(1, batch_size, 1, tiles)",)),
    (
        r"past_observed_mask",
        ("full(1, batch_size, context_length + lags)", "full(1, batch_size, context_length, num_series)"),
    ),
    (
        r".*mask.*",
        (MASK, "full(1, batch_size, 64)", "full(1, batch_size, seq_len, 1)", *FLAGS),
    ),
    (
        r"pixel_values|images?|pixel_values_images|image_pixel_values|sample|input|x",
        (
            IMAGE,
            FILM,
            PATCHES,
            SHOWN.format(1),
            SHOWN.format(2),
            "floats(batch_size, grid_height * grid_width, num_channels * patch_size * patch_size)",
            "floats(batch_size, 144, num_channels * patch_size * patch_size)",  # for poolings
            "floats(batch_size, num_channels, 2 * image_height, 2 * image_width)",
            "floats(batch_size, num_channels, 4 * image_height, 4 * image_width)",
            "floats(batch_size, 1, tiles, num_channels, image_height, image_width)",
            HALF,
            "floats(batch_size, num_frames, num_channels, 2 * image_height, 2 * image_width)",
            "floats(grid_height * grid_width, temporal_patch_size, patch_size, patch_size, num_channels)",
        ),
    ),
    (r"pixel_values_videos?|video", (FILM, PATCHES)),
    (r"(image_|video_)?grid_thw|grid_thws", ("values([[1, grid_height, grid_width]])",)),
    (
        r"(image_)?grid_hw|target_sizes|spatial_shapes",
        ("values([[grid_height, grid_width]])", "full(8, batch_size, 2)"),
    ),
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
            f"floats(mel_bins, {FRAMES})",  # samples one after the other, told apart by their lengths
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
    (r"t_cond", ("floats(1, 1, hidden_size)",)),
    (r"timesteps?", ("full(1, batch_size, seq_len)", "floats(batch_size)")),
    (r"feature_lens|audio_feature_lengths", (f"values([{FRAMES}])",)),
    (r"mel_spectrogram", ("floats(batch_size, mel_bins, 256)",)),
    (r"reference_mel", ("floats(batch_size, 256, mel_bins)",)),
    (r"time_step", ("floats(batch_size)",)),
    (r"(image_|video_)?merge_sizes", ("values([2])",)),  # patches along each side that become one
    (r"codebook_idx", ("1",)),  # the first is often another model's
    (r"reference_points", ("floats(batch_size, seq_len, 4)", "floats(batch_size, seq_len, 2)")),
    (r"spatial_shapes_list", ("[(8, 8)]",)),
    (r"level_start_index", ("values([0])",)),
    (r"num_patches", ("seq_len",)),
    (r"task_inputs", ("floats(batch_size, task_len)",)),
    (r"valid_ratios", ("floats(batch_size, 1, 2)",)),
    (r"quantized_code|code", (TOKENS,)),
    (r"(chunk|audio)_sample_lengths", ("full(1000000000, batch_size)",)),  # all that is there
    (r".*_idx|marks", ("integers(7, batch_size, seq_len, low=1)",)),
    (r"num_options", ("full(1, batch_size, seq_len)",)),
    (r"visual_feats", ("floats(batch_size, num_regions, visual_feat_dim)",)),
    (r"visual_pos", ("floats(batch_size, num_regions, 4)",)),
    (r"audio_codes|codes", ("integers(2, batch_size, codebooks, seq_len)",)),
    (r"(pixel|image|patch)_position_ids", ("integers(12, batch_size, 144, 2)", TOKENS)),
    (r".*_ids", (TOKENS,)),
    (r"inputs", (*ANYTHING, IMAGE)),  # whatever a preprocessor takes
    (r".*", ANYTHING),
)

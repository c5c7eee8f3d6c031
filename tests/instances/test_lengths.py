"""Lengths that errors tell: those of layers, of messages, of images, and of parts that are joined."""

from __future__ import annotations

import pytest
import torch
from transformers.models.gemma4.modeling_gemma4 import Gemma4AudioModel
from transformers.models.granite_speech5.modeling_granite_speech5 import GraniteSpeech5Encoder
from transformers.models.janus.modeling_janus import JanusVQVAE
from transformers.models.moshi.modeling_moshi import MoshiDepthDecoder
from transformers.models.vit.modeling_vit import ViTModel

from forwardbook.analyzers.instances.notation import Reader
from forwardbook.analyzers.instances.pretrained.asked import asked, error_of
from forwardbook.analyzers.instances.pretrained.inputs import held_by, plans
from forwardbook.analyzers.instances.pretrained.lengths import pairs_of, terms, with_told_lengths
from forwardbook.analyzers.instances.pretrained.mended import built
from forwardbook.analyzers.instances.pretrained.models import Holder


def test_a_layer_that_raises_tells_what_it_takes() -> None:
    """The layer's input has 5 columns, and the layer takes 7."""
    with torch.device("meta"), pytest.raises(RuntimeError) as raised:
        torch.nn.Linear(7, 3)(torch.zeros(2, 5))

    assert (5, 7) in list(pairs_of(raised.value))


@pytest.mark.parametrize(
    ("said", "pair"),
    [
        ("`input_values` length 16000 is not a multiple of 1920.", (16000, 17280)),
        ("expects a multiple of `n_window * 2` (100), but got 26.", (26, 100)),
        ("Expected size to be: [51, 1024] but got: [51, 4096].", (1024, 4096)),
        ("shape '[3, 1, 7, 768]' is invalid for input of size 5376", (3, 1)),
        ("The size of tensor a (24) must match the size of tensor b (3)", (3, 24)),
    ],
)
def test_a_message_tells_two_lengths(said: str, pair: tuple[int, int]) -> None:
    """Multiples are rounded up to; of two shapes or numbers either may be meant."""
    assert pair in list(pairs_of(ValueError(said)))


def test_both_sides_of_an_image_are_changed_together() -> None:
    """A message tells one side at a time: an image with the other side alone is no step further."""
    _, model = built(Holder(ViTModel, {}))
    plan = {"pixel_values": "floats(batch_size, num_channels, image_height, image_width)"}
    error = AssertionError("Input height (224) doesn't match model (336).")

    found = [one["pixel_values"] for one in with_told_lengths(model, plan, error)]
    assert "floats(batch_size, num_channels, 336, 336)" in found


def test_the_sizes_of_an_expression_are_told_apart() -> None:
    """The highest id, the value to fill in and the lowest id are no sizes."""
    assert ["2 * n", "m"] == terms("floats(m, 2 * n)")
    assert ["n", "m"] == terms("integers(7, m, n, low=1)")
    assert ["n"] == terms("full(8, n)")


def test_a_length_of_a_layer_is_read_from_the_model() -> None:
    """The notation names the layer and the attribute that holds the length."""
    model = torch.nn.Sequential(torch.nn.Linear(7, 3))

    assert 7 == Reader(lambda name: 0, held=held_by(model)).read('of("0", "in_features")')


def test_a_layer_that_is_given_nothing_divides_no_length() -> None:
    """Rows without an element are no length that another is a multiple of."""
    _, model = built(Holder(Gemma4AudioModel, {}))
    with pytest.raises(RuntimeError) as told:
        torch.nn.Linear(64, 8)(torch.empty(3, 0))

    found = list(with_told_lengths(model, {"input_features": "floats(batch_size, 100, 128)"}, told.value))

    assert {"input_features": "floats(batch_size, 100, 192)"} in found


def test_inputs_are_as_wide_as_the_layer_that_refused_them() -> None:
    """Moshi's depth decoder takes the states of a wider model: the width stays that of the layer."""
    _, model = built(Holder(MoshiDepthDecoder, {}))

    [found, *_] = asked(model, plans(model))

    assert "of('input_projections', 'weight.shape.2')" in found["last_hidden_state"]
    assert error_of(model, found, model) is None


def test_an_image_is_as_large_as_its_patches_ask_for() -> None:
    """Janus decodes 32 x 32 tokens, and 224 pixels make 14 x 14."""
    _, model = built(Holder(JanusVQVAE, {}))

    [found, *_] = asked(model, plans(model))

    assert "image_height * 32 // 14, image_width * 32 // 14" in found["pixel_values"]


def test_a_length_is_scaled_where_strides_shorten_it() -> None:
    """Gemma's front end halves 3000 frames twice and takes as many as 128 mel bins leave."""
    _, model = built(Holder(Gemma4AudioModel, {}))

    [found, *_] = asked(model, plans(model))

    assert error_of(model, found, model) is None


def test_a_length_that_another_input_has_keeps_its_name() -> None:
    """Frames are as many as the mask has positions, whichever number that is."""
    holder = Holder(GraniteSpeech5Encoder, {}, mends={"num_key_value_heads": 8})
    _, model = built(holder)

    [found, *_] = asked(model, plans(model))

    assert found["input_features"].startswith("floats(batch_size, seq_len, of(")

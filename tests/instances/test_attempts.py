"""What is tried where a model refuses its inputs: settings of its config, then other inputs."""

from __future__ import annotations

import pytest
import torch
from transformers import VitMatteForImageMatting
from transformers.models.cohere_compass.modeling_cohere_compass import CohereCompassForCausalLM
from transformers.models.colpali.modeling_colpali import ColPaliForRetrieval
from transformers.models.gemma3n.modeling_gemma3n import Gemma3nAudioEncoder
from transformers.models.hunyuan_vl.modeling_hunyuan_vl import HunYuanVLTextModel
from transformers.models.llama4.modeling_llama4 import Llama4VisionModel
from transformers.models.pp_ocrv5_server_det.modeling_pp_ocrv5_server_det import (
    PPOCRV5ServerDetForObjectDetection,
)
from transformers.models.qwen3_omni_moe.modeling_qwen3_omni_moe import Qwen3OmniMoeThinkerTextModel
from transformers.models.voxtral_realtime.modeling_voxtral_realtime import VoxtralRealtimeTextModel

from forwardbook.analyzers.instances.pretrained.asked import asked, error_of, fits
from forwardbook.analyzers.instances.pretrained.attempts import attempts
from forwardbook.analyzers.instances.pretrained.inputs import plans
from forwardbook.analyzers.instances.pretrained.mended import built
from forwardbook.analyzers.instances.pretrained.models import Holder
from forwardbook.analyzers.instances.pretrained.shapes_only import OnlyShapes


@pytest.mark.parametrize(
    ("model", "field", "value"),
    [
        (Llama4VisionModel, "intermediate_size", 3072),  # what unshuffled pixels are wide
        (VitMatteForImageMatting, "hidden_size", 768),  # that of the backbone
        (Qwen3OmniMoeThinkerTextModel, "num_attention_heads", 16),  # 28 make heads of odd width
    ],
)
def test_a_field_is_set_to_what_its_layer_is_given(model: type, field: str, value: int) -> None:
    """Where layers inside do not fit, no input helps: the config is changed."""
    *_, (holder, _) = attempts(Holder(model, {}))

    assert value == holder.mends[field]
    _, whole = built(holder)
    assert any(fits(whole, plan, whole) for plan in plans(whole))


@pytest.mark.parametrize("model", [CohereCompassForCausalLM, HunYuanVLTextModel])
def test_rotations_that_a_config_leaves_out_are_filled_in(model: type) -> None:
    """By kind of layer, or by axis."""
    holder = Holder(model, {})
    *_, (holder, _) = [(built(holder)[0], None), *attempts(holder)]

    _, whole = built(holder)
    assert "rope_parameters" in holder.mends
    assert any(fits(whole, plan, whole) for plan in plans(whole))


def test_fields_without_a_default_are_as_published() -> None:
    """The kernels of the detector's blocks are data."""
    _, model = built(Holder(PPOCRV5ServerDetForObjectDetection, {}))

    assert error_of(model, plans(model)[0], model) is None


def test_what_forward_hands_on_is_given_too() -> None:
    """Layers ask for what the model's own signature has only as **kwargs."""
    _, model = built(Holder(VoxtralRealtimeTextModel, {}))

    assert "t_cond" in asked(model, plans(model))[0]


def test_values_and_shapes_meet() -> None:
    """A grid of patches has values, the patches have only shapes."""
    shapes = OnlyShapes()
    with shapes:
        total = torch.tensor([1, 8]) + torch.zeros(2, device="meta")

    assert total.is_meta
    assert shapes.steps


def test_values_are_read_where_there_are_any() -> None:
    """Of a meta tensor a one is read."""
    with OnlyShapes():
        assert 8 == int(torch.tensor(8))
        assert 1 == int(torch.zeros((), device="meta"))
        assert (3,) == torch.repeat_interleave(torch.ones(3, dtype=torch.int64, device="meta")).shape


def test_a_text_alone_is_tried_where_images_may_be_left_out() -> None:
    """Places for images in a text would have to be as many as their features."""
    _, model = built(Holder(ColPaliForRetrieval, {}))

    assert any("pixel_values" not in plan for plan in plans(model))


def test_masks_become_flags_where_those_are_asked_for() -> None:
    """Filling by a mask takes no numbers."""
    _, model = built(Holder(Gemma3nAudioEncoder, {}))

    assert "mask(batch_size, seq_len)" == asked(model, plans(model))[0]["audio_mel_mask"]

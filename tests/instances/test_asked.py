"""What a model's errors ask for: parameters, other shapes of those given, fields of its config."""

from __future__ import annotations

import pytest
import torch
from transformers import (
    BartForSequenceClassification,
    BartModel,
    DiaForConditionalGeneration,
    PerceiverForImageClassificationLearned,
    PreTrainedModel,
    Siglip2Model,
)
from transformers.models.efficientloftr.modeling_efficientloftr import EfficientLoFTRModel
from transformers.models.minicpmv4_6.modeling_minicpmv4_6 import MiniCPMV4_6VisionModel
from transformers.models.seamless_m4t.modeling_seamless_m4t import (
    SeamlessM4TCodeHifiGan,
    SeamlessM4TTextToUnitModel,
)

from forwardbook.analyzers.instances.pretrained.asked import asked, error_of
from forwardbook.analyzers.instances.pretrained.configs import named_parts
from forwardbook.analyzers.instances.pretrained.inputs import plans
from forwardbook.analyzers.instances.pretrained.mended import built
from forwardbook.analyzers.instances.pretrained.mending import mended
from forwardbook.analyzers.instances.pretrained.models import Holder
from forwardbook.analyzers.instances.pretrained.raised import expressions_of


def test_a_call_over_several_lines_is_read_whole() -> None:
    """The argument that is amiss stands on another line than the one at which Python says it raised."""
    nothing = None
    with pytest.raises(TypeError) as raised:
        torch.topk(
            torch.zeros(3),
            k=nothing,
        )

    (_, text), *_ = expressions_of(raised.value)
    assert "k=nothing" in text


def test_the_plan_that_comes_furthest_is_gone_on_from() -> None:
    """Siglip2 takes rows of patches, which is not the first choice, and then asks how they lie."""
    _, model = built(Holder(Siglip2Model, {}))

    [found] = asked(model, plans(model))[:1]

    rows = "grid_height * grid_width"
    assert f"floats(batch_size, {rows}, num_channels * patch_size * patch_size)" == found["pixel_values"]
    assert "spatial_shapes" in found
    assert error_of(model, found, model) is None


@pytest.mark.parametrize(("kind", "ends"), [(BartForSequenceClassification, True), (BartModel, False)])
def test_texts_end_once_where_a_model_looks_for_their_end(kind: type[PreTrainedModel], ends: bool) -> None:
    """BART classifies by what it makes of the end, of which every text must have as many."""
    _, model = built(Holder(kind, {}))

    first = plans(model)[0]

    assert ends == ("integers(seq_len + 1, batch_size, seq_len, low=1)" == first["input_ids"])


def test_ids_of_several_codebooks_are_tried() -> None:
    """Dia's decoder takes a number for each channel at every position."""
    _, model = built(Holder(DiaForConditionalGeneration, {}))

    assert any(error_of(model, plan, model) is None for plan in plans(model))


def test_one_input_is_given_for_another_that_is_refused() -> None:
    """Units of speech are made from embeddings: token ids cannot be passed."""
    _, model = built(Holder(SeamlessM4TTextToUnitModel, {}))
    given = asked(model, plans(model))

    assert given
    assert all("inputs_embeds" in plan and "input_ids" not in plan for plan in given)


def test_who_speaks_is_a_number_for_each_sample() -> None:
    """A vocoder looks the voice and the language up in tables."""
    _, model = built(Holder(SeamlessM4TCodeHifiGan, {}))

    [plan, *_] = asked(model, plans(model))
    assert plan["spkr_id"] == plan["lang_id"] == "integers(2, batch_size, 1)"


def test_what_has_no_name_may_be_an_image() -> None:
    """Perceiver calls `inputs` whatever its preprocessor takes."""
    _, model = built(Holder(PerceiverForImageClassificationLearned, {}))

    taken = [plan["inputs"] for plan in plans(model) if error_of(model, plan, model) is None]
    assert ["floats(batch_size, num_channels, image_height, image_width)"] == taken


def test_heads_of_keys_are_shared_only_where_the_model_takes_it() -> None:
    """EfficientLoFTR views keys by the width of queries: the errors give it as many heads of both."""
    holder, model = built(Holder(EfficientLoFTRModel, {}))
    pair = next(plan for plan in plans(model) if "batch_size, 2," in plan["pixel_values"])
    error = error_of(model, pair, model)
    assert isinstance(error, RuntimeError)

    more = mended(dict(named_parts(model.config)), error)
    _, again = built(Holder(EfficientLoFTRModel, {}, mends={**holder.mends, **more}))

    assert {"num_key_value_heads": model.config.num_attention_heads} == more
    assert error_of(again, pair, again) is None


def test_images_lie_in_a_row_beside_their_sizes() -> None:
    """MiniCPM's tower asks for the sizes of images; what has them is one row of all patches."""
    _, model = built(Holder(MiniCPMV4_6VisionModel, {}))

    [found] = asked(model, plans(model))[:1]

    whole_row = "floats(1, num_channels, patch_size, grid_height * grid_width * patch_size)"
    assert whole_row == found["pixel_values"]
    assert "values([[grid_height, grid_width]])" == found["target_sizes"]

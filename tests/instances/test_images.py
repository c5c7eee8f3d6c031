"""Images: their rows and columns are a config's where it has them, else sizes of their own."""

from __future__ import annotations

import pytest
import torch

from forwardbook.analyzers.instances.draw import ChosenSizes
from forwardbook.analyzers.instances.recipes import recipes_for
from forwardbook.analyzers.instances.tensors import PlainMaker

FOLDER = "transformers.models."


def _asked(name: str, sizes: dict[str, int]) -> tuple[dict[str, int], torch.Tensor]:
    """The sizes that a recipe asks for, and its image."""
    recipe, *_ = recipes_for(name)
    known: dict[str, int] = {}
    chosen = ChosenSizes(sizes)

    def asked(name: str, hint: int, meaning: str = "", source: str = "") -> int:
        known[name] = chosen(name, hint, meaning, source)
        return known[name]

    with torch.device("meta"):
        model = recipe.build(asked)
        _, given = recipe.inputs(asked, model, PlainMaker())
    image = given["pixel_values"]
    assert isinstance(image, torch.Tensor)
    return known, image


@pytest.mark.parametrize(
    "name", ["resnet.modeling_resnet.ResNetModel", "segformer.modeling_segformer.SegformerModel"]
)
def test_an_image_that_no_config_knows_has_rows_and_columns_of_its_own(name: str) -> None:
    """Both are sizes, which may differ."""
    known, image = _asked(FOLDER + name, {"image_height": 96, "image_width": 160})
    assert (known["image_height"], known["image_width"]) == (96, 160) == tuple(image.shape[-2:])


def test_an_image_is_as_large_as_the_config_says() -> None:
    """The field is the size, and nothing else is asked for."""
    known, image = _asked(FOLDER + "vit.modeling_vit.ViTModel", {"image_size": 64})
    assert tuple(image.shape[-2:]) == (64, 64)
    assert "image_height" not in known and "image_width" not in known

"""A model that follows objects through a film is called on a frame, over its memory of those before."""

from __future__ import annotations

import pytest
import torch

from forwardbook.analyzers.instances.recipe import Recipe, hinted
from forwardbook.analyzers.instances.recipes import recipes_for
from forwardbook.analyzers.instances.tensors import PlainMaker

SAM2 = "transformers.models.sam2_video.modeling_sam2_video.Sam2VideoModel"


@pytest.fixture(scope="module")
def recipes() -> dict[str, Recipe]:
    """Those of Sam2VideoModel, by their scenarios."""
    return {one.scenario: one for one in recipes_for(SAM2)}


def classes_called(recipe: Recipe) -> set[str]:
    """Names of the classes that one call on meta reaches."""
    called: set[str] = set()
    with torch.device("meta"), torch.no_grad():
        model = recipe.build(hinted)
        args, kwargs = recipe.inputs(hinted, model, PlainMaker("meta"))
        for module in model.modules():
            module.register_forward_hook(lambda one, given, out: called.add(type(one).__name__))
        model(*args, **kwargs)
    return called


def test_the_next_frame_is_seen_over_what_the_first_left(recipes: dict[str, Recipe]) -> None:
    """Memory attention runs on a frame that follows one, and the memory encoder on every frame."""
    first, following = classes_called(recipes["first frame"]), classes_called(recipes["default"])

    assert {"Sam2VideoMemoryAttention", "Sam2VideoRoPEAttention"} <= following - first
    assert "Sam2VideoMemoryEncoder" in first & following


def test_points_are_given_on_the_first_frame_alone(recipes: dict[str, Recipe]) -> None:
    """The session of a following frame holds no points for it."""
    with torch.device("meta"), torch.no_grad():
        model = recipes["default"].build(hinted)
        _, given = recipes["default"].inputs(hinted, model, PlainMaker("meta"))

    points = given["inference_session"].point_inputs_per_obj[0]  # type: ignore[attr-defined]
    assert (1, [0]) == (given["frame_idx"], list(points))

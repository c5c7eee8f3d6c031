"""A model whose text holds places for images, sounds or films in; out inputs with as many places as features.

How many features a tower makes, the model itself says: its `get_image_features` is called first, and the text
is as many tokens of the kind that the features take the places of.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from forwardbook.analyzers.instances.pretrained.asked import fits
from forwardbook.analyzers.instances.pretrained.inputs import (
    GRID,
    Plan,
    expressions,
    make_inputs,
    options_beside,
)
from forwardbook.analyzers.instances.pretrained.parameters import FILM
from forwardbook.analyzers.instances.recipe import InputMaker, Inputs, Sizes

if TYPE_CHECKING:
    import torch
    from torch import nn
    from transformers import PreTrainedConfig, PreTrainedModel

    from forwardbook.analyzers.instances.pretrained.models import Holder

# What a tower's method is called, and the fields that may hold the token of its places.
TOWERS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("get_image_features", ("image_token_id", "image_token_index", "img_token_id")),
    ("get_audio_features", ("audio_token_id", "audio_token_index", "audio_token")),
    ("get_video_features", ("video_token_id", "video_token_index")),
)
BESIDE = ("image_sizes", "input_features_mask", "feature_attention_mask", "pixel_attention_mask")
"""Parameters with a default that a tower's method needs nevertheless."""

SCALES: tuple[tuple[int, int], ...] = ((364, 14), (896, 14), (980, 14))
"""Rows of pixels in an image and in a patch, as published (Aya Vision, Gemma 3, Aria), smallest first: with
the defaults a tower makes another number of patches than what follows it takes."""


@dataclass(frozen=True)
class Placed:
    """A call with a text that consists of places for what one tower makes of its inputs."""

    method: str
    token: str
    plan: Plan

    def __call__(self, sizes: Sizes, model: nn.Module, maker: InputMaker) -> Inputs:
        """The tower's inputs, and the text."""
        config = cast("PreTrainedModel", model).config
        given = make_inputs(self.plan, sizes, config, maker, model)
        made = features(getattr(model, self.method)(**given))
        token = cast(int, _token(config, (self.token,)))
        names = inspect.signature(type(model).forward).parameters
        kept: dict[str, object] = {name: value for name, value in given.items() if name in names}
        if "use_cache" in names:
            kept["use_cache"] = False
        return (), {**kept, "input_ids": maker.full(_places(made), token)}


def placed(model: PreTrainedModel) -> Iterator[Placed]:
    """One way for each tower whose method takes inputs that are known."""
    from forwardbook.analyzers.instances.tensors import ShapesAndNumbers

    taken = inspect.signature(type(model).forward).parameters
    for method, fields in TOWERS:
        token = next((name for name in fields if isinstance(_token(model.config, (name,)), int)), None)
        if token is None or "input_ids" not in taken or not hasattr(model, method):
            continue
        call, known = getattr(model, method), ShapesAndNumbers()
        plan = next((one for one in plans_of(model, method) if fits(call, one, model, known)), None)
        if plan is not None:
            yield Placed(method, token, plan)


def scales(holder: Holder) -> Iterator[dict[str, object]]:
    """Settings for images of other sizes, for a model whose tower has one size of image and of patch."""
    part = getattr(holder.config_class(), "vision_config", None)
    fields = ("image_size", "patch_size")
    if part is not None and all(isinstance(getattr(part, name, None), int) for name in fields):
        for scale in SCALES:
            yield {f"vision_config.{name}": size for name, size in zip(fields, scale, strict=True)}


def _token(config: PreTrainedConfig, names: tuple[str, ...]) -> object:
    return next((v for v in (getattr(config, name, None) for name in names) if v is not None), None)


def plans_of(model: PreTrainedModel, method: str) -> Iterator[Plan]:
    """Inputs of a method, likeliest first; several kinds of what it takes first."""
    given = [
        p
        for p in inspect.signature(getattr(model, method)).parameters.values()
        if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)
    ]
    needed = [p.name for p in given if p.default is p.empty]
    needed += [p.name for p in given if p.name not in needed and GRID.fullmatch(p.name)]
    beside = [p.name for p in given if p.name in BESIDE and p.name not in needed]
    main = needed[0] if needed else ""
    options = options_beside(main, needed) if main else ()
    for option in sorted(options, key=lambda one: one == FILM and method == "get_image_features"):
        first = {name: expressions(name)[0] for name in needed} | {main: option}
        yield first
        if beside:
            yield first | {name: expressions(name)[0] for name in beside}


def features(out: object) -> list[torch.Tensor]:
    """The tensors of features in what a tower's method gives back."""
    import torch

    value = getattr(out, "pooler_output", None)
    value = value if value is not None else getattr(out, "last_hidden_state", out)
    if isinstance(value, torch.Tensor):
        return [value]
    return [one for one in cast("list[object]", value) if isinstance(one, torch.Tensor)]


def _places(made: list[torch.Tensor]) -> tuple[int, int]:
    """Texts and the places in each."""
    if len(made) == 1 and made[0].dim() == 3:
        return made[0].shape[0], made[0].shape[1]
    return 1, sum(one.shape.numel() // one.shape[-1] for one in made)

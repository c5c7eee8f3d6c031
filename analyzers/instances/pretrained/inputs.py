"""A model and its config in; out the inputs that its forward() signature asks for, in the notation."""

from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from forwardbook.analyzers.instances.adapters.consumers import Consumer
from forwardbook.analyzers.instances.notation import Reader
from forwardbook.analyzers.instances.pretrained.configs import parts
from forwardbook.analyzers.instances.pretrained.described import described, gathered
from forwardbook.analyzers.instances.pretrained.parameters import (
    ANYTHING,
    COUNT,
    DISTINCT,
    FIELDS,
    FREE,
    IN_A_ROW,
    MASK,
    NAMELESS,
    OF_GRIDS,
    PAIRS,
    PARAMETERS,
    UNSTATED,
)
from forwardbook.analyzers.instances.recipe import InputMaker, Sizes

if TYPE_CHECKING:
    from torch import nn
    from transformers import PreTrainedConfig, PreTrainedModel

Plan = Mapping[str, str]  # forward() parameter -> expression of the notation

GRID = re.compile(r"(image_|video_)?grid_(thw|hw)|grid_thws")  # patches per image: time, rows, columns
_ENDS = re.compile(r"eq\(self\.config\.eos_token_id\)")  # every text has its end, and as many as the others
# Parameters without which a signature that has them does not run, though it gives them a default.
NEEDED = ("bbox", "visual_feats", "visual_pos")
WITH_IMAGES = ("input_ids",)  # models of two towers compare an image with a text


def plans(model: PreTrainedModel) -> list[Plan]:
    """What to call forward() with, likeliest first; every plan is a set of expressions."""
    names, needed = _needed(model)
    choices = [(name, _options(model, name, needed)) for name in needed]
    first = {name: options[0] for name, options in choices}
    found: list[dict[str, str]] = [first]
    found += [{**first, name: option} for name, options in choices for option in options[1:]]
    grids = [name for name in names if GRID.fullmatch(name)]
    if grids and not set(grids) & set(needed):
        found += [{**plan, grids[0]: expressions(grids[0])[0]} for plan in list(found)]
    if "attention_mask" in names and "attention_mask" not in needed:
        found.append({**first, "attention_mask": MASK})
    if {"input_ids", "pixel_values"} <= first.keys() and not _required(model, "pixel_values"):
        found.append({name: text for name, text in first.items() if name != "pixel_values"})
    usual = {name: options[0] for name, options in choices if options != ANYTHING}
    found += described(model, needed, usual)
    settings = {"use_cache": "False"} if "use_cache" in names else {}
    return [{**plan, **settings} for plan in found]


def _options(model: PreTrainedModel, name: str, needed: Collection[str]) -> tuple[str, ...]:
    """What a parameter of this model takes, likeliest first."""
    options = options_beside(name, needed)
    if options == ANYTHING and _is_number(model, name):
        return (COUNT,)
    return (DISTINCT, *options) if name == "input_ids" and _looks_for_an_end(model) else options


def _is_number(model: PreTrainedModel, name: str) -> bool:
    """Whether a parameter is said to be a whole number."""
    return inspect.signature(type(model).forward).parameters[name].annotation in (int, "int")


def _looks_for_an_end(model: PreTrainedModel) -> bool:
    """Whether forward() compares its tokens with the end of a text."""
    try:
        return _ENDS.search(inspect.getsource(type(model).forward)) is not None
    except (TypeError, OSError):  # no file has it, or it is read and not imported
        return False


def options_beside(name: str, others: Collection[str]) -> tuple[str, ...]:
    """What a parameter takes; beside a grid, or the sizes of images, these come as rows of patches."""
    if name in ("hidden_states", "pixel_values", "pixel_values_videos"):
        if any(GRID.fullmatch(one) for one in others):
            return (*OF_GRIDS, *expressions(name))
        if "target_sizes" in others and name != "hidden_states":
            return (IN_A_ROW, *expressions(name))
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


def _required(model: PreTrainedModel, name: str) -> bool:
    parameter = inspect.signature(type(model).forward).parameters[name]
    return parameter.default is parameter.empty


def _has_image_token(config: PreTrainedConfig) -> bool:
    """Whether images enter among the tokens, so that a text alone is a whole input."""
    return any(
        hasattr(config, name) for name in ("image_token_id", "image_token_index", "vision_start_token_id")
    )


def make_inputs(
    plan: Plan,
    sizes: Sizes,
    config: PreTrainedConfig,
    maker: InputMaker,
    model: nn.Module | None = None,
) -> dict[str, object]:
    """The keyword arguments of a plan; lengths of layers are those of the model."""
    held = None if model is None else held_by(model)
    reader = Reader(lambda name: field_size(name, sizes, config), maker, held=held)
    return gathered(model, {name: reader.read(text) for name, text in plan.items()})


def held_by(model: nn.Module) -> Callable[[str, str], object]:
    """Answers the length that a layer has, by the layer's path and the attribute that holds it."""
    return lambda path, attribute: Consumer(path, attribute, 0, None).size(model)


def field_size(name: str, sizes: Sizes, config: PreTrainedConfig | None) -> object:
    """A name in an expression: a free size, or what the config has under one of the fields that hold it."""
    if name in FREE:
        hint, meaning = FREE[name]
        return sizes(name, hint, meaning, "forward")
    fields, otherwise = FIELDS.get(name, ((name,), NAMELESS))
    if config is None:
        return sizes(name, otherwise, "", "forward")
    value = next(_values(config, fields), None)
    if value is None and (name in UNSTATED or name not in FIELDS):
        return sizes(name, otherwise, UNSTATED.get(name, name.replace("_", " ")), "forward")
    value = otherwise if value is None else value
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

"""Recipes for the classes of transformers: the smallest model that holds the class, in its default config."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, cast

from forwardbook.analyzers.instances.parameter_kinds import advice, needed
from forwardbook.analyzers.instances.pretrained.configs import (
    EXPERTS,
    ask_sizes,
    copied,
    make_config,
    named_parts,
)
from forwardbook.analyzers.instances.pretrained.decode import can_decode, decode_inputs, layouts
from forwardbook.analyzers.instances.pretrained.inputs import Plan, make_inputs, plans
from forwardbook.analyzers.instances.pretrained.library import INSTALLED, Library
from forwardbook.analyzers.instances.pretrained.models import Holder, holders_of, instantiate
from forwardbook.analyzers.instances.pretrained.parameters import FREE
from forwardbook.analyzers.instances.pretrained.sessions import followed
from forwardbook.analyzers.instances.pretrained.unstated import stated
from forwardbook.analyzers.instances.pretrained.whole import Continued, continues
from forwardbook.analyzers.instances.recipe import (
    InputMaker,
    Inputs,
    InstanceOptions,
    NoRecipe,
    Recipe,
    Sizes,
)
from forwardbook.errors import own_type

_SIZE = re.compile(r"\{([\w.]+)\}")


if TYPE_CHECKING:
    from torch import nn
    from transformers import PreTrainedConfig, PreTrainedModel

# What models demand of their sizes; a line counts where the config has all its names.
DEMANDS = (
    "{num_attention_heads} % {num_key_value_heads} == 0",
    "{hidden_size} % {num_attention_heads} == 0",
    "{n_embd} % {n_head} == 0",
    "{d_model} % (2 * {encoder_attention_heads}) == 0",  # 2: sines and cosines of positions
    "{d_model} % {decoder_attention_heads} == 0",
    "{encoder_attention_heads} == {decoder_attention_heads}",  # both divide d_model
    "{n_routed_experts} % {n_group} == 0",
    "{topk_group} <= {n_group}",
    "{first_k_dense_replace} < {num_hidden_layers}",  # else there is no layer with experts
    "{num_dense_layers} < {num_hidden_layers}",
    "{num_experts_per_tok} <= {n_routed_experts}",
    "{num_experts_per_tok} <= {num_local_experts}",
    "{image_size} % {patch_size} == 0",
    "{seq_len} <= {max_position_embeddings}",
    "{seq_len} <= {n_positions}",
    "{num_heads} % {expand} == 0",
    "{num_heads} % {n_groups} == 0",
    "{hidden_size} == {num_heads} * {head_dim} // {expand}",  # heads share the inner width of Mamba-2 out
    "{relative_attention_max_distance} > {relative_attention_num_buckets}",
    "{num_heads.1} == 2 * {num_heads.0}",  # a stage of Swin doubles the width
    "{num_heads.2} == 2 * {num_heads.1}",
    "{num_heads.3} == 2 * {num_heads.2}",
    "{embed_dim} % {num_heads.0} == 0",
    "{image_size} // {patch_size} >= 8 * {window_size}",  # three mergings leave at least a window
)
# Rotary embeddings turn pairs: half a head is a whole number.
ROTARY = ("{head_dim} % 2 == 0", "{qk_rope_head_dim} % 2 == 0")
# Grouped matrix products want rows of whole 16 bytes, which are 8 numbers of 16 bits.
GROUPED = tuple(
    f"{{{name}}} % 8 == 0" for name in ("hidden_size", "intermediate_size", "moe_intermediate_size")
)
ROTARY_SHARE = "{hidden_size} % (2 * {num_attention_heads}) == 0"  # heads that share the hidden size out


def transformers_recipes(
    full_class_name: str, options: InstanceOptions, library: Library = INSTALLED
) -> list[Recipe]:
    """The recipes of a class: prefill for each smallest model that holds it, decode for causal ones."""
    target = library.target(full_class_name)
    recipes = [
        recipe
        for i, holder in enumerate(holders_of(target, library))
        for recipe in holder_recipes(
            full_class_name, holder, options, holder.model_class.__name__ if i else "", library
        )
    ]
    if not recipes:
        raise NoRecipe(
            full_class_name,
            "no model of its module holds it when built from its default config",
            _described(target.__init__),
            _described(target.forward),
            advice(needed(target.__init__), needed(target.forward)),
        )
    return recipes


def _described(function: object) -> list[str]:
    """The parameters of a function as `name: type`."""
    return [
        str(parameter)
        for parameter in inspect.signature(function).parameters.values()  # type: ignore[arg-type]
        if parameter.name != "self"
        and parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
    ]


def holder_recipes(
    target: str, holder: Holder, options: InstanceOptions, scenario: str, library: Library = INSTALLED
) -> list[Recipe]:
    """The recipes of one model: a call over all positions, then a decode step where it has one."""
    import torch

    model_class = holder.model_class
    config = make_config(holder.config_class, options, holder.settings, holder.deep, holder.mends)
    try:
        with torch.device("meta"):
            model = instantiate(model_class, copied(config), library)
            config = stated(config, model, partial(instantiate, model_class, library=library))
            frames = followed(model)
            ways = [] if frames else plans(model)
    except Exception as error:  # building somebody else's model raises anything
        reason = f"building {model_class.__name__} failed: {own_type(error)}"
        raise NoRecipe(target, reason) from error
    made = [partial(_prefill, plan) for plan in ways]
    recipe = partial(
        Recipe,
        target=target,
        library="transformers",
        build=partial(_build, model_class, config, library),
        conditions=_conditions(config),
    )
    if frames:
        return [recipe(inputs=way, scenario=f"{scenario} {name}".strip()) for name, way in frames]
    found = [recipe(inputs=made[0], alternatives=tuple(made[1:]), scenario=scenario or "default")]
    if can_decode(model_class, config, library):
        first, *others = (
            partial(decode_inputs, i, library) for i in range(layouts(config.get_text_config(decoder=True)))
        )
        found.append(recipe(inputs=first, alternatives=tuple(others), scenario=f"{scenario} decode".strip()))
    elif continues(model):
        first_way, *other_ways = (Continued(way) for way in ways)
        decode = f"{scenario} decode".strip()
        found.append(recipe(inputs=first_way, alternatives=tuple(other_ways), scenario=decode))
    return found


def given(recipe: Recipe, plan: Plan) -> Recipe:
    """The recipe with other inputs for a call over all positions."""
    return replace(recipe, inputs=partial(_prefill, plan), alternatives=())


def _build(
    model_class: type[PreTrainedModel], config: PreTrainedConfig, library: Library, sizes: Sizes
) -> nn.Module:
    fresh = copied(config)
    ask_sizes(fresh, sizes)
    return instantiate(model_class, fresh, library)


def _prefill(plan: Plan, sizes: Sizes, model: nn.Module, maker: InputMaker) -> Inputs:
    return (), make_inputs(plan, sizes, cast("PreTrainedModel", model).config, maker, model)


def _conditions(config: PreTrainedConfig) -> tuple[str, ...]:
    """What the config's model demands of its sizes, those demands left out that name none of them."""
    names: list[str] = []

    def note(name: str, hint: int, meaning: str = "", source: str = "") -> int:
        names.append(name)
        return hint

    ask_sizes(copied(config), note)
    known = {*names, *FREE}
    found: list[str] = []
    for prefix, part in named_parts(config):

        def named(size: re.Match[str], prefix: str = prefix) -> str:
            return f"{{{size[1] if size[1] in FREE else prefix + size[1]}}}"

        demands = (_SIZE.sub(named, demand) for demand in _demands(part))
        found += [demand for demand in demands if set(_SIZE.findall(demand)) <= known]
    return tuple(dict.fromkeys(found))


def _demands(config: PreTrainedConfig) -> Iterator[str]:
    fields = config.__dict__
    yield from DEMANDS
    if fields.get("rope_parameters"):
        yield from ROTARY if fields.get("head_dim") else (*ROTARY, ROTARY_SHARE)
    if any(EXPERTS.match(name) for name in fields):
        yield from GROUPED

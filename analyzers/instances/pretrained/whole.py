"""A whole model in its own config in; out the recipes of its phases, in which only the inputs are sizes.

Prefill is one call over all positions; decode is one further token over the cache that a prefill left,
whatever that cache holds: keys and values, latents, states of a recurrence. The model itself makes it.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, cast

from forwardbook.analyzers.instances.pretrained.inputs import Plan, make_inputs, plans
from forwardbook.analyzers.instances.pretrained.library import INSTALLED, Library, is_config
from forwardbook.analyzers.instances.pretrained.models import instantiate
from forwardbook.analyzers.instances.pretrained.strict import accept_symbolic_sizes
from forwardbook.analyzers.instances.recipe import InputMaker, Inputs, Recipe, Sizes, full_name

if TYPE_CHECKING:
    import torch
    from torch import nn
    from transformers import PreTrainedConfig, PreTrainedModel

CACHED = ("past_key_values", "cache_params", "state")  # where outputs carry what the next call needs
KV_LEN = 23
# Widths of windows, of which that of the second lies on both sides of a position.
WINDOWS = {"sliding_window": 5, "local_attention": 8, "attention_window_size": 5, "attention_chunk_size": 5}
DEEP = 6  # a cache for encoder and decoder holds caches, which hold layers, which hold tensors


@dataclass
class Filling:
    """The shapes and types of the tensors in the cache that the last inputs held."""

    tensors: list[tuple[tuple[int, ...], torch.dtype]] = field(default_factory=list)


@dataclass(frozen=True)
class Phase:
    """One way in which a whole model is called, and for decode what the cache held."""

    name: str
    recipe: Recipe
    filling: Filling
    narrow: Callable[[], Phase | None] | None = None
    """The same where attention sees a window of a few positions; nothing of a model that has none."""


def phases_of(
    model_class: type[PreTrainedModel], config: PreTrainedConfig, library: Library = INSTALLED
) -> list[Phase]:
    """Prefill, and decode for a model that generates.

    Raises:
        Exception: whatever the model's constructor raises for this config.
    """
    import torch

    accept_symbolic_sizes()
    config.return_dict = True
    with torch.device("meta"):
        model = instantiate(model_class, config, library)
        ways = plans(model)
    generates = _generates(model)

    def narrow(name: str) -> Phase | None:
        other = narrowed(config)
        every = phases_of(model_class, other, library) if other is not None else []
        return next((one for one in every if one.name == name), None)

    # one that only hands `use_cache` on may hand it to a part that refuses it, and keep a cache unasked
    asked = (True,) if "use_cache" in _parameters(model) else (True, False)
    first = [_Prefill(way, keep) for keep in (asked if generates else (False,)) for way in ways]
    found = [_phase("prefill", first, model_class, config, library)]
    if generates:
        next_ones = [Continued(way, keep) for keep in asked for way in ways]
        found.append(_phase("decode", next_ones, model_class, config, library))
    return [replace(one, narrow=partial(narrow, one.name)) for one in found]


def narrowed(config: PreTrainedConfig) -> PreTrainedConfig | None:
    """A copy whose windows, also in configs within it, are a few positions wide; None without windows."""
    other = copy.deepcopy(config)
    found = False
    for one in (other, *(value for value in vars(other).values() if is_config(value))):
        for name, width in WINDOWS.items():
            value = getattr(one, name, None)
            if isinstance(value, int) and not isinstance(value, bool) and value > 0:
                setattr(one, name, width)
                found = True
    return other if found else None


def _phase(
    name: str,
    ways: Sequence[_Prefill | Continued],
    model_class: type[PreTrainedModel],
    config: PreTrainedConfig,
    library: Library,
) -> Phase:
    filling = Filling()
    for way in ways:
        way.filling = filling
    recipe = Recipe(
        target=full_name(model_class),
        library="transformers",
        build=lambda sizes: instantiate(model_class, config, library),
        inputs=ways[0],
        alternatives=tuple(ways[1:]),
        scenario=name,
    )
    return Phase(name, recipe, filling)


def continues(model: nn.Module) -> bool:
    """Whether a call hands on a state that is no plain cache of keys and values: two stacks, a recurrence."""
    names = _parameters(model)
    if "use_cache" not in names:
        return False
    two = "past_key_values" in names and "decoder_input_ids" in names
    return two or "cache_params" in names


def _parameters(model: nn.Module) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(type(model).forward).parameters


def _generates(model: nn.Module) -> bool:
    """Whether a call can hand its state to the next: it takes a cache and writes logits of tokens."""
    names = _parameters(model)
    handed_on = any(one.kind is one.VAR_KEYWORD for one in names.values())  # `use_cache` reaches a part by it
    takes = ("use_cache" in names or handed_on) and any(name in names for name in CACHED)
    return takes and bool(cast("PreTrainedModel", model).can_generate())


@dataclass
class _Prefill:
    """All positions in one call; a model that generates keeps its cache."""

    plan: Plan
    keep: bool
    filling: Filling = field(default_factory=Filling)

    def __call__(self, sizes: Sizes, model: nn.Module, maker: InputMaker) -> Inputs:
        inputs = _whole(self.plan, sizes, model, maker)
        return (), {**inputs, "use_cache": True} if self.keep else inputs


@dataclass
class Continued:
    """One token for each sequence, over the cache that the model filled with `kv_len` positions."""

    plan: Plan
    keep: bool = True
    filling: Filling = field(default_factory=Filling)

    def __call__(self, sizes: Sizes, model: nn.Module, maker: InputMaker) -> Inputs:
        kept: dict[str, object] = {"use_cache": True} if self.keep else {}
        grows = "decoder_seq_len" if "decoder_input_ids" in self.plan else "seq_len"

        def renamed(name: str, hint: int, meaning: str = "", source: str = "") -> int:
            if name == grows:
                return sizes("kv_len", KV_LEN, "positions already in the cache", "past_key_values")
            return sizes(name, hint, meaning, source)

        first = _whole(self.plan, renamed, model, maker)
        out = model(**first, **kept)
        name = next((name for name in CACHED if getattr(out, name, None) is not None), None)
        if name is None:
            raise ValueError(f"its call returns none of {', '.join(CACHED)}")
        cache = getattr(out, name)
        held = list(tensors_in(cache))
        self.filling.tensors = [(tuple(t.shape), t.dtype) for t in held]
        batch_size = sizes("batch_size", 3, "independent samples in the input", "forward")
        token = maker.integers((batch_size, 1), 7, low=1)
        given: dict[str, object] = {name: cache, **kept}
        if "decoder_input_ids" in self.plan:
            given |= {"decoder_input_ids": token, "encoder_outputs": (out.encoder_last_hidden_state,)}
        else:
            given["input_ids"] = token
        return (), given


def _whole(plan: Plan, sizes: Sizes, model: nn.Module, maker: InputMaker) -> dict[str, object]:
    kept = {name: text for name, text in plan.items() if name != "use_cache"}
    return make_inputs(kept, sizes, cast("PreTrainedModel", model).config, maker, model)


def tensors_in(value: object, depth: int = DEEP) -> Iterator[torch.Tensor]:
    """The tensors that a cache holds, however it nests them."""
    import torch

    if isinstance(value, torch.Tensor):
        if value.dim():  # counters are numbers
            yield value
        return
    if depth == 0 or isinstance(value, torch.nn.Module | type) or callable(value):
        return
    if isinstance(value, dict):
        inner: list[object] = list(value.values())
    elif isinstance(value, list | tuple):
        inner = list(value)
    else:
        inner = list(getattr(value, "__dict__", {}).values())
    for one in inner:
        yield from tensors_in(one, depth - 1)

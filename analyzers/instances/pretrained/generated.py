"""A model that generates in; out the recipes of the calls that its `generate` makes, as it makes them.

They differ from plain calls: only the last position meets the head, positions are handed in, and an encoder
runs once, by itself, before the first step of the decoder.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from forwardbook.analyzers.instances.pretrained.inputs import Plan, make_inputs, plans
from forwardbook.analyzers.instances.pretrained.library import INSTALLED
from forwardbook.analyzers.instances.pretrained.models import instantiate
from forwardbook.analyzers.instances.pretrained.strict import accept_symbolic_sizes
from forwardbook.analyzers.instances.pretrained.whole import KV_LEN, Filling, Phase, tensors_in
from forwardbook.analyzers.instances.recipe import InputMaker, Inputs, Recipe, Sizes, full_name

if TYPE_CHECKING:
    from torch import nn
    from transformers import DynamicCache, PreTrainedConfig, PreTrainedModel


def generation_phases(
    model_class: type[PreTrainedModel], config: PreTrainedConfig, device: str = "cpu"
) -> list[Phase]:
    """Encode (where there is an encoder), prefill and decode, called with what `generate` hands over.

    Elsewhere than on a processor `generate` decodes a mixture of experts in another way (`_decoding`).

    Raises:
        Exception: whatever the model's constructor raises for this config.
    """
    import torch

    accept_symbolic_sizes()
    config.return_dict = True
    with torch.device("meta"):
        model = instantiate(model_class, config)
        plan = {name: text for name, text in plans(model)[0].items() if name != "use_cache"}
    build: Callable[[Sizes], nn.Module] = lambda sizes: instantiate(model_class, config, INSTALLED)  # noqa: E731
    decodes = build
    if device != "cpu":
        decodes = lambda sizes: _decoding(instantiate(model_class, config, INSTALLED))  # noqa: E731
    target = full_name(model_class)
    if not config.is_encoder_decoder:
        return [
            _phase("prefill", target, build, _First(plan)),
            _phase("decode", target, decodes, _Next(plan)),
        ]
    encoder = type(model.get_encoder())
    given = {name: text for name, text in plan.items() if not name.startswith("decoder_")}
    encode = _phase(
        "encode",
        full_name(encoder),
        lambda sizes: cast("nn.Module", instantiate(model_class, config, INSTALLED).get_encoder()),
        _Encode(given, config),
    )
    prefill = _phase("prefill", target, build, _FirstStep(given, config))
    return [encode, prefill, _phase("decode", target, decodes, _NextStep(given, config))]


def _decoding(model: PreTrainedModel) -> PreTrainedModel:
    """The model as `generate` decodes with it on a GPU: products of experts that were grouped are batched.

    It gathers the weights of the experts that each token goes to, which takes memory and saves launches
    (`_optimize_model_for_decode` in transformers 5.23).
    """
    ways = model.get_experts_implementation()
    if "grouped_mm" in ways.values():
        model.set_experts_implementation(
            {part: "batched_mm" if way == "grouped_mm" else way for part, way in ways.items()}
        )
    return model


def _phase(name: str, target: str, build: Callable[[Sizes], nn.Module], way: _Way) -> Phase:
    recipe = Recipe(target=target, library="transformers", build=build, inputs=way, scenario=name)
    return Phase(name, recipe, way.filling)


@dataclass
class _Way:
    plan: Plan
    config: PreTrainedConfig | None = None
    filling: Filling = field(default_factory=Filling)

    def __call__(self, sizes: Sizes, model: nn.Module, maker: InputMaker) -> Inputs:
        raise NotImplementedError

    def whole(self, sizes: Sizes, model: nn.Module, maker: InputMaker) -> dict[str, object]:
        """What a call over all positions takes."""
        config = self.config or cast("PreTrainedModel", model).config
        return make_inputs(self.plan, sizes, config, maker)


def _batch(sizes: Sizes) -> int:
    return sizes("batch_size", 3, "independent samples in the input", "forward")


class _First(_Way):
    """All positions of a prompt into an empty cache; logits of the last one."""

    def __call__(self, sizes: Sizes, model: nn.Module, maker: InputMaker) -> Inputs:
        from transformers import DynamicCache

        given = self.whole(sizes, model, maker)
        length = sizes("seq_len", 17, "positions in the sequence", "forward")
        config = cast("PreTrainedModel", model).config
        more = {
            "past_key_values": DynamicCache(config=config),
            "position_ids": maker.integers((_batch(sizes), length), length),
            "logits_to_keep": 1,
            "use_cache": True,
            "return_dict": True,
        }
        return (), {**given, **more}


class _Next(_Way):
    """One token for each sequence, over a cache that holds `kv_len` positions."""

    def __call__(self, sizes: Sizes, model: nn.Module, maker: InputMaker) -> Inputs:
        batch = _batch(sizes)
        held = sizes("kv_len", KV_LEN, "positions already in the cache", "past_key_values")
        _, first = _First(self.plan)(_renamed(sizes, held), model, maker)
        try:
            cache = model(**first).past_key_values
        except RuntimeError:  # grouped products run in few formats where nothing is computed
            cache = _filled(cast("PreTrainedModel", model).config, batch, held, maker)
        self.filling.tensors = [(tuple(t.shape), t.dtype) for t in tensors_in(cache)]
        return (), {
            "input_ids": maker.integers((batch, 1), 7, low=1),
            "past_key_values": cache,
            "position_ids": maker.full((batch, 1), held),
            "logits_to_keep": 1,
            "use_cache": True,
            "return_dict": True,
        }


def _filled(config: PreTrainedConfig, batch: int, held: int, maker: InputMaker) -> DynamicCache:
    """A cache of keys and values as a call would have left it."""
    from transformers import DynamicCache

    cache = DynamicCache(config=config)
    width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    for layer in range(config.num_hidden_layers):
        shape = (batch, config.num_key_value_heads, held, width)
        cache.update(maker.floats(shape), maker.floats(shape), layer)
    return cache


def _renamed(sizes: Sizes, held: int) -> Sizes:
    """The positions of the call that filled the cache are those in the cache."""

    def answer(name: str, hint: int, meaning: str = "", source: str = "") -> int:
        return held if name == "seq_len" else sizes(name, hint, meaning, source)

    return answer


class _Encode(_Way):
    """The encoder by itself."""

    def __call__(self, sizes: Sizes, model: nn.Module, maker: InputMaker) -> Inputs:
        given = self.whole(sizes, model, maker)
        more = {"output_attentions": False, "output_hidden_states": False, "return_dict": True}
        return (), {**given, **more}


class _FirstStep(_Way):
    """The first token of the decoder, over an encoder's output and an empty cache."""

    def __call__(self, sizes: Sizes, model: nn.Module, maker: InputMaker) -> Inputs:
        from transformers import DynamicCache, EncoderDecoderCache

        config = self.config
        cache = EncoderDecoderCache(DynamicCache(config=config), DynamicCache(config=config))
        return (), {
            "decoder_input_ids": maker.integers((_batch(sizes), 1), 7, low=1),
            "past_key_values": cache,
            "encoder_outputs": self.encoded(sizes, model, maker),
            "use_cache": True,
            "return_dict": True,
        }

    def encoded(self, sizes: Sizes, model: nn.Module, maker: InputMaker) -> object:
        """What the encoder handed over."""
        encoder = cast("PreTrainedModel", model).get_encoder()
        _, given = _Encode(self.plan, self.config)(sizes, model, maker)
        return encoder(**given)


class _NextStep(_FirstStep):
    """One further token, over the states of the encoder and `kv_len` positions in the cache."""

    def __call__(self, sizes: Sizes, model: nn.Module, maker: InputMaker) -> Inputs:
        batch = _batch(sizes)
        held = sizes("kv_len", KV_LEN, "positions already in the cache", "past_key_values")
        _, first = super().__call__(sizes, model, maker)
        filled = {**first, "decoder_input_ids": maker.integers((batch, held), 7, low=1)}
        cache = model(**filled).past_key_values
        self.filling.tensors = [(tuple(t.shape), t.dtype) for t in tensors_in(cache)]
        token = maker.integers((batch, 1), 7, low=1)
        return (), {**first, "decoder_input_ids": token, "past_key_values": cache}

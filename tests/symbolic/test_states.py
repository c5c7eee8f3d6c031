"""`boundary` of calls that extend a cache or rewrite a state, by hand formulas."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from transformers import (
    DynamicCache,
    Gemma3ForCausalLM,
    Gemma3TextConfig,
    LlamaConfig,
    LlamaForCausalLM,
    MambaConfig,
    MambaForCausalLM,
    StaticCache,
)

from forwardbook import cost

VOCABULARY, WIDTH, LAYERS, HEADS, HEAD = 50, 32, 2, 2, 8
SIZES = {
    "vocab_size": VOCABULARY,
    "hidden_size": WIDTH,
    "intermediate_size": 64,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": 4,
    "num_key_value_heads": HEADS,
    "head_dim": HEAD,
}
POSITION = 2 * HEADS * HEAD * 4
"""Bytes of one position of one sequence in one layer's keys and values."""


def ids(batch: int, length: int) -> Tensor:
    """Token ids."""
    return torch.ones(batch, length, dtype=torch.int64)


def beside_the_cache(model: nn.Module, batch: int) -> int:
    """What a decode moves beside the cache: weights once, of the embedding its rows alone, ids, logits."""
    elements = sum(one.numel() for one in model.parameters())
    tied = model.get_output_embeddings().weight is model.get_input_embeddings().weight  # type: ignore[operator]
    rows = 0 if tied else batch * WIDTH - VOCABULARY * WIDTH
    return 4 * (elements + rows + HEAD // 2 + batch * VOCABULARY) + 8 * batch  # HEAD // 2 rotary frequencies


@pytest.mark.parametrize(("batch", "held"), [(1, 10), (3, 33)])
def test_a_cache_that_grows_is_read_once_and_written_at_new_positions(batch: int, held: int) -> None:
    model, cache = LlamaForCausalLM(LlamaConfig(**SIZES)).eval(), DynamicCache()
    with torch.no_grad():
        model(ids(batch, held), past_key_values=cache)
    found = cost(model, ids(batch, 1), past_key_values=cache)
    assert found.boundary == beside_the_cache(model, batch) + LAYERS * POSITION * batch * (held + 1)


@pytest.mark.parametrize("new", [1, 4])
def test_each_further_position_in_a_cache_costs_its_bytes_once(new: int) -> None:
    model = LlamaForCausalLM(LlamaConfig(**SIZES)).eval()

    def boundary(held: int) -> int:
        cache = DynamicCache()
        with torch.no_grad():
            model(ids(2, held), past_key_values=cache)
        return cost(model, ids(2, new), past_key_values=cache).boundary

    assert boundary(30) - boundary(20) == 10 * 2 * LAYERS * POSITION


def test_a_window_is_read_once_and_its_new_position_written_once() -> None:
    kinds = ["sliding_attention", "full_attention"]
    model = Gemma3ForCausalLM(Gemma3TextConfig(**SIZES, sliding_window=6, layer_types=kinds)).eval()

    def boundary(held: int) -> int:
        with torch.no_grad():
            cache = model(ids(1, held), use_cache=True).past_key_values
        return cost(model, ids(1, 1), past_key_values=cache).boundary

    assert boundary(30) - boundary(20) == 10 * POSITION  # the window is full, the other layer grows
    elements = sum(one.numel() for one in model.parameters())
    rotary, scale = 4 * 2 * HEAD // 2, 4  # frequencies of both kinds of layers, a factor of embeddings
    moved = 4 * elements + 4 * VOCABULARY + 8 + rotary + scale + POSITION * (5 + 1 + 20 + 1)
    assert boundary(20) == moved


def test_a_static_cache_is_read_once_and_written_at_the_new_position() -> None:
    config = LlamaConfig(**SIZES)
    model, room = LlamaForCausalLM(config).eval(), 24
    cache = StaticCache(config, max_cache_len=room)
    with torch.no_grad():
        model(ids(1, 10), past_key_values=cache)
    found = cost(model, ids(1, 1), past_key_values=cache)
    counters = LAYERS * 2 * 8  # how many positions are filled, read and written by each layer
    assert found.boundary == beside_the_cache(model, 1) + LAYERS * POSITION * (room + 1) + counters


def test_states_of_a_recurrence_are_read_once_and_written_once() -> None:
    config = MambaConfig(hidden_size=WIDTH, state_size=4, num_hidden_layers=LAYERS, vocab_size=VOCABULARY)
    model = MambaForCausalLM(config).eval()

    def beside_weights(batch: int) -> int:
        with torch.no_grad():
            cache = model(ids(batch, 9), use_cache=True).cache_params
        found = cost(model, ids(batch, 1), cache_params=cache)
        return found.boundary - found.weights

    inner = 2 * WIDTH
    states = LAYERS * 4 * (inner * config.conv_kernel + inner * config.state_size)
    assert beside_weights(1) == 2 * states + 4 * VOCABULARY + 8
    assert beside_weights(3) == 3 * (2 * states + 4 * VOCABULARY + 8)


class Attention(nn.Module):
    """Keys and values come and go as tensors."""

    def forward(self, x: Tensor, layer_past: tuple[Tensor, Tensor]) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        keys, values = (torch.cat([one, x], dim=1) for one in layer_past)
        return (x @ keys.transpose(1, 2)).softmax(-1) @ values, (keys, values)


def test_a_cache_of_tensors_is_told_by_the_name_of_its_parameter() -> None:
    past = torch.randn(2, 9, WIDTH), torch.randn(2, 9, WIDTH)
    found = cost(Attention(), torch.randn(2, 1, WIDTH), past)
    assert found.boundary == 4 * WIDTH * 2 * (1 + 2 * 9 + 2 + 1)


class Joined(nn.Module):
    """Puts two inputs beside each other."""

    def forward(self, x: Tensor, other: Tensor) -> Tensor:
        return torch.cat([x, other], dim=1)


class Peeking(nn.Module):
    """Returns what a cache holds beside an input, and leaves the cache as it is."""

    def forward(self, x: Tensor, past_key_values: DynamicCache) -> Tensor:
        return torch.cat([past_key_values.layers[0].keys, x], dim=-2)


def test_two_inputs_side_by_side_are_a_new_output() -> None:
    found = cost(Joined(), torch.randn(2, 9, WIDTH), torch.randn(2, 1, WIDTH))
    assert found.boundary == 4 * 2 * 2 * 10 * WIDTH


def test_what_does_not_go_back_into_the_cache_is_a_new_output() -> None:
    cache = DynamicCache()
    cache.update(torch.randn(1, 2, 9, 8), torch.randn(1, 2, 9, 8), 0)
    found = cost(Peeking(), torch.randn(1, 2, 1, 8), cache)
    assert found.boundary == 4 * 2 * 2 * 10 * 8

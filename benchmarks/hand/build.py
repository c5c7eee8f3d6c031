"""Sizes in; instances of classes by their constructors, and inputs of their calls, out."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any

import torch
from benchmarks.hand.case import Build, Inputs, Sizes

if TYPE_CHECKING:
    from torch import nn


def with_arguments(*names: str, **others: object) -> Build:
    """A class whose constructor takes sizes of these names; others are values."""

    def build(home: ModuleType, kind: str, sizes: Sizes) -> nn.Module:
        module: nn.Module = getattr(home, kind)(**{name: sizes[name] for name in names}, **others)
        return module

    return build


def with_config(
    config: str, *names: str, also: str = "", given: Mapping[str, object] | None = None, **others: object
) -> Build:
    """A class whose constructor takes a config, and sizes and values beside it.

    The config has those of the sizes that are its fields, one that the class reads `also` though no field
    declares it, and what is `given`.
    """

    def build(home: ModuleType, kind: str, sizes: Sizes) -> nn.Module:
        values = {**(given or {}), **({also: sizes[also]} if also else {})}
        made = make_config(getattr(home, config), sizes, values)
        arguments = {name: sizes[name] for name in names}
        module: nn.Module = getattr(home, kind)(config=made, **arguments, **others)
        return module

    return build


def make_config(kind: Any, sizes: Sizes, values: Mapping[str, object]) -> Any:
    """A config of these sizes and values; its attention and experts are written out in torch."""
    fields = {one.name for one in dataclasses.fields(kind)} | set(kind.attribute_map)
    chosen = {name: size for name, size in sizes.items() if name in fields}
    return kind(**chosen, attn_implementation="eager", experts_implementation="eager", **values)


def tensor(*names: str | int, **others: object) -> Callable[[Sizes], Inputs]:
    """A tensor of these sizes as the only argument by position."""
    return lambda sizes: ((random_tensor(sizes, *names),), dict(others))


def random_tensor(sizes: Sizes, *names: str | int) -> torch.Tensor:
    """A tensor of random numbers."""
    return torch.randn([sizes[name] if isinstance(name, str) else name for name in names])


def rows(width: str) -> Callable[[Sizes], Inputs]:
    """[batch_size, seq_len, width], as most classes take it."""
    return tensor("batch_size", "seq_len", width)


def rows_without_mask(width: str) -> Callable[[Sizes], Inputs]:
    """The same, where a mask has to be named: there is none."""
    return lambda sizes: ((random_tensor(sizes, "batch_size", "seq_len", width),), {"attention_mask": None})


def rotary(sizes: Sizes, length: int, dim: str = "head_dim") -> tuple[torch.Tensor, torch.Tensor]:
    """Cosines and sines of positions, as rotary embeddings give them."""
    return torch.randn(1, length, sizes[dim]), torch.randn(1, length, sizes[dim])


def rotary_rows(dim: str = "head_dim") -> Callable[[Sizes], Inputs]:
    """Hidden states and what rotates `dim` numbers of each head, for all of a sequence; nothing is masked."""

    def inputs(sizes: Sizes) -> Inputs:
        states = random_tensor(sizes, "batch_size", "seq_len", "hidden_size")
        rotation = rotary(sizes, sizes.seq_len, dim)
        return (states,), {"position_embeddings": rotation, "attention_mask": None}

    return inputs


def decode(
    *cached: tuple[str | int, str], width: str = "hidden_size", dim: str = ""
) -> Callable[[Sizes], Inputs]:
    """One new position, and a cache with heads and widths as given (keys, values); `dim` is what rotates."""

    def inputs(sizes: Sizes) -> Inputs:
        from transformers import DynamicCache

        cache = DynamicCache()
        keys, values = (random_tensor(sizes, "batch_size", heads, "kv_len", wide) for heads, wide in cached)
        cache.update(keys, values, 0)
        named: dict[str, object] = {"attention_mask": None, "past_key_values": cache}
        if dim:
            named["position_embeddings"] = rotary(sizes, 1, dim)
        return (random_tensor(sizes, "batch_size", 1, width),), named

    return inputs

"""A built module in; out the widths and ranks of input that its first layers take."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import nn

MOST = 6
"""Different widths that are told of one module."""
_SPATIAL = {"Conv1d": 1, "Conv2d": 2, "Conv3d": 3, "ConvTranspose1d": 1, "ConvTranspose2d": 2}
_SPATIAL |= {"ConvTranspose3d": 3, "BatchNorm1d": 1, "BatchNorm2d": 2, "BatchNorm3d": 3}
_SPATIAL |= {"InstanceNorm1d": 1, "InstanceNorm2d": 2, "InstanceNorm3d": 3}


@dataclass(frozen=True)
class Consumer:
    """What a layer takes: where it is, the attribute that holds its width, the width, spatial dimensions.

    `spatial` is None where the channels come last, and -1 where ids are taken.
    """

    path: str
    attribute: str
    width: int
    spatial: int | None

    def size(self, module: nn.Module) -> object:
        """The width in a module of the same make: a symbol where it was built with symbols."""
        held: object = module.get_submodule(self.path)
        for name in self.attribute.split("."):
            held = held[int(name)] if name.isdigit() else getattr(held, name)  # type: ignore[index]
        return held


def consumers(module: nn.Module) -> list[Consumer]:
    """The first layers of different kinds or widths, in the order in which they were made."""
    found: list[Consumer] = []
    for one in every_consumer(module):
        if not any((one.width, one.spatial) == (other.width, other.spatial) for other in found):
            found.append(one)
        if len(found) == MOST:
            break
    return found


def every_consumer(module: nn.Module) -> Iterator[Consumer]:
    """The layers that tell how wide their input is, in the order in which they were made."""
    for path, layer in module.named_modules():
        kind = next(
            (base.__name__ for base in type(layer).__mro__ if base.__module__.startswith("torch.nn")), ""
        )
        if kind in _SPATIAL:
            name = "in_channels" if "Conv" in kind else "num_features"
            yield from _one(layer, path, name, _SPATIAL[kind])
        elif kind == "Linear":
            yield from _one(layer, path, "in_features", None)
        elif kind in ("Embedding", "EmbeddingBag"):
            yield from _one(layer, path, "num_embeddings", -1)
        elif kind == "GroupNorm":
            yield from _one(layer, path, "num_channels", 2)
        elif kind in ("LayerNorm", "RMSNorm"):
            yield from _one(layer, path, "normalized_shape.0", None)
        elif kind in ("LSTM", "GRU", "RNN", "LSTMCell", "GRUCell", "RNNCell"):
            yield from _one(layer, path, "input_size", None)
        elif kind == "MultiheadAttention":
            yield from _one(layer, path, "embed_dim", None)
        else:
            yield from _own(layer, path)


def _one(layer: nn.Module, path: str, attribute: str, spatial: int | None) -> Iterator[Consumer]:
    try:
        width = Consumer(path, attribute, 0, spatial).size(_Root(layer))  # type: ignore[arg-type]
    except (AttributeError, IndexError, TypeError):
        return
    if isinstance(width, int) and width > 0:
        yield Consumer(path, attribute, width, spatial)


def _own(layer: nn.Module, path: str) -> Iterator[Consumer]:
    """Of parameters that a module holds itself: the first and the last of their sizes."""
    for name, parameter in layer.named_parameters(recurse=False):
        for index in dict.fromkeys((parameter.dim() - 1, 0)) if 0 < parameter.dim() <= 4 else ():
            width = parameter.shape[index]
            if width > 1:
                spatial = parameter.dim() - 1 if index == 0 and parameter.dim() > 1 else None
                yield Consumer(path, f"{name}.shape.{index}", width, spatial)


@dataclass(frozen=True)
class _Root:
    """In place of a tree: whatever is asked for is the layer."""

    layer: nn.Module

    def get_submodule(self, path: str) -> nn.Module:
        return self.layer

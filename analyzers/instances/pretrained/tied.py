"""What the base class of models reads of a config: whether weights that a model names are the same."""

from __future__ import annotations

from typing import Final

from torch import nn

TIED: Final = "tie_word_embeddings"
"""The field that says so."""


def may_tie(module: nn.Module) -> bool:
    """Whether a module names weights that are tied where its config says so."""
    return bool(getattr(module, "_tied_weights_keys", None))

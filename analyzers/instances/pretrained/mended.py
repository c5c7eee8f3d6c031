"""A holder in; out the model built, its config mended as the errors of building say what is missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from forwardbook.analyzers.instances.pretrained.configs import make_config, named_parts
from forwardbook.analyzers.instances.pretrained.mending import mended
from forwardbook.analyzers.instances.pretrained.models import Holder, instantiate
from forwardbook.analyzers.instances.recipe import InstanceOptions

if TYPE_CHECKING:
    from transformers import PreTrainedModel

MOST = 6
"""Times that a config is mended: each time another field is found missing."""


def built(holder: Holder) -> tuple[Holder, PreTrainedModel]:
    """The holder with what had to be mended, and its model on meta.

    Raises:
        Exception: what the model's constructor raises where nothing can be mended, or not by then.
    """
    import torch

    for _ in range(MOST):
        config = make_config(
            holder.config_class, InstanceOptions(), holder.settings, holder.deep, holder.mends
        )
        before = dict(named_parts(config))
        try:
            with torch.device("meta"):
                return holder, instantiate(holder.model_class, config)
        except Exception as error:
            more = mended(before, error.__cause__ or error)
            if not more or (more.keys() <= holder.mends.keys() and not _lowers(more, holder.mends)):
                raise
            holder = replace(holder, mends={**holder.mends, **more})
    raise ValueError(f"{holder.model_class.__name__}: mended {MOST} times, and still not built")


def _lowers(more: Mapping[str, object], mends: Mapping[str, object]) -> bool:
    """Whether a number that was lowered once has to be lower still: heads divide two widths."""
    pairs = [(mends[name], value) for name, value in more.items()]
    return all(isinstance(a, int) and isinstance(b, int) and b < a for a, b in pairs)

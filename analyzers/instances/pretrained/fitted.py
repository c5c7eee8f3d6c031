"""A holder whose layers do not fit together, and the error; out the setting of its config that fits them.

A layer inside takes one width and is given another, where no input could change either: some field that holds
the one is set to the other, and stays so where a call then comes further.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from forwardbook.analyzers.instances.pretrained.asked import asking
from forwardbook.analyzers.instances.pretrained.configs import named_parts
from forwardbook.analyzers.instances.pretrained.fields import is_size
from forwardbook.analyzers.instances.pretrained.inputs import plans
from forwardbook.analyzers.instances.pretrained.lengths import pairs_of
from forwardbook.analyzers.instances.pretrained.mended import built
from forwardbook.analyzers.instances.pretrained.mending import mended
from forwardbook.analyzers.instances.pretrained.models import Holder

if TYPE_CHECKING:
    from transformers import PreTrainedModel

MOST = 8
"""Settings that are tried: each builds a model and calls it."""


def mended_more(model: PreTrainedModel, errors: Iterable[BaseException]) -> dict[str, object]:
    """The settings that the first of the errors asks for that asks for any."""
    parts = dict(named_parts(model.config))
    return next((told for error in errors if (told := mended(parts, error))), {})


def fitted(holder: Holder, end: tuple[int, BaseException]) -> dict[str, object]:
    """A setting under which a call comes further than where it ended; none where none does."""
    import torch

    steps, error = end
    with torch.device("meta"):
        _, model = built(holder)
    for setting in _settings(model, error):
        trial = replace(holder, mends={**holder.mends, **setting})
        try:
            with torch.device("meta"):
                _, other = built(trial)
            done = asking(other, plans(other))
        except Exception:  # noqa: BLE001, S112 - building somebody else's model raises anything
            continue
        if done.found or not done.ends or max(reached for reached, _ in done.ends) > steps:
            return setting
    return {}


def _settings(model: PreTrainedModel, error: BaseException) -> Iterator[dict[str, object]]:
    """Fields that hold what a layer takes, set to what it is given; then the other way round."""
    made = 0
    pairs = list(dict.fromkeys(pairs_of(error)))[:MOST]
    for given, wanted in [*pairs, *((wanted, given) for given, wanted in pairs)]:
        for setting in _of_fields(model, given, wanted):
            yield setting
            made += 1
            if made == MOST:
                return


def _of_fields(model: PreTrainedModel, given: int, wanted: int) -> Iterator[dict[str, object]]:
    """The field or the item of a list that is wanted; then one that differs as much from another part's."""
    every = list(named_parts(model.config))
    for prefix, part in every:
        for name, value in part.__dict__.items():
            if value == wanted and is_size(value):
                yield {prefix + name: given}
            elif isinstance(value, list | tuple) and wanted in value and all(is_size(one) for one in value):
                at = value.index(wanted)
                yield {prefix + name: [*value[:at], given, *value[at + 1 :]]}
    for prefix, part in every:
        for name, value in part.__dict__.items():
            if is_size(value) and any(
                other.__dict__.get(name) == cast(int, value) + given - wanted for _, other in every
            ):
                yield {prefix + name: cast(int, value) + given - wanted}

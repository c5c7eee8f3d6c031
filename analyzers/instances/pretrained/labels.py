"""The labels of a classifier as a size: a config has no such field, only the length of its `id2label`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from forwardbook.analyzers.instances.pretrained.fields import is_size
from forwardbook.analyzers.instances.recipe import Sizes

if TYPE_CHECKING:
    from transformers import PreTrainedConfig

LABELS: Final = "num_labels"
MAPPING: Final = "id2label"
NAMED: Final = 100_000  # labels that get a name each: a draw may be beyond a threshold of millions
_OF_INSTANCES: Final = ("__dict__", "__weakref__")  # what a class has for its instances, by descriptors


def ask_labels(config: PreTrainedConfig, prefix: str, sizes: Sizes) -> None:
    """Asks for the number of labels where a config tells it by `id2label`; who reads it gets the answer.

    A drawn number is set as anybody would set it. A symbolic one cannot be: the length of a mapping is a
    plain number. So the config becomes one of a class alike, of which `num_labels` is what was asked for. So
    it does where names of all labels would fill the memory.
    """
    labels = config.__dict__.get(MAPPING)
    if not isinstance(labels, dict) or not is_size(len(labels)) or LABELS in config.__dict__:
        return
    full = prefix + LABELS
    asked = sizes(full, len(labels), "labels that a classifier tells apart", f"config.{full}")
    if type(asked) is int and asked <= NAMED:
        setattr(config, LABELS, asked)
    else:
        config.__class__ = _with_labels(type(config), asked)


class _Alike:
    """Base of a class that is like another one: nothing is done once more that its making did."""

    def __init_subclass__(cls) -> None:
        """Leaves the class as it is."""


def _with_labels(config_class: type[PreTrainedConfig], asked: int) -> type[PreTrainedConfig]:
    """The class under its own names and with its members, but for the property."""
    members = {name: value for name, value in vars(config_class).items() if name not in _OF_INSTANCES}
    made = type(config_class.__name__, (_Alike, config_class), {**members, LABELS: asked})
    return cast("type[PreTrainedConfig]", made)

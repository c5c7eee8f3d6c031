"""A built model in; the fields of its config that formulas have no symbol for out, in words.

A formula is of one config in all that is no size of it: what is left out, switched on, called by name, a
ratio that widths follow from, a list of strides, which kind of layer stands where. What changes values and no
cost (an epsilon, a dropout, how weights begin, which token is which) is not told.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

import torch
from torch import nn

from forwardbook.analyzers.instances.pretrained.depth import DEPTH
from forwardbook.analyzers.instances.pretrained.derived import DERIVED
from forwardbook.analyzers.instances.pretrained.fields import SKIPPED
from forwardbook.analyzers.instances.pretrained.tied import TIED, may_tie
from forwardbook.analyzers.instances.recipe import Sizes, hinted
from forwardbook.analyzers.symbolic.patterns import class_name
from forwardbook.saying import BUILT, CONFIGURED, CUT, LEFT_OUT

LONGEST: Final = 120
"""Characters of a list that are told."""
NO_COST: Final = re.compile(
    r"(^output_(attentions|hidden_states|router_logits)$|^return_dict$|^is_encoder_decoder$|^model_type$"
    r"|name_or_path|^architectures$|label2id$|id2label$|loss|ctc_|^initializer|initializer_range$)"
)
"""Fields that no forward() without labels follows, or that only say what others do."""
VALUES: Final = re.compile(
    r"(eps|drop|std|prob|theta|init|coef|weight|temperature|momentum|alpha|beta|gamma|sigma|cost|noise|thresh"
    r"|jitter|damping|clip)"
)
"""Fractions, and lists of them, that change values and no shapes."""
LAYERS: Final = re.compile(r"(layer|block)s?_(block_)?types?$|pattern$")
"""Lists of words that say which kind of layer stands where."""


@dataclass(frozen=True, slots=True)
class Unsized:
    """What is told of each field, in the config's order, and whose modules keep which config within it."""

    root: str
    """The class of the model."""
    told: tuple[tuple[str, str, str], ...] = ()
    """The config's place (`text_config.`, or nothing), the field, the words."""
    kept: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The places of the configs that modules of a class keep."""
    tying: frozenset[str] = frozenset()
    """The classes whose base class reads whether their weights are tied."""

    def of(self, read: Mapping[str, Collection[str]]) -> Iterator[str]:
        """What is told of the fields that classes read; a class that keeps a config reads that one."""
        for place, name, text in self.told:
            readers = (one for one, names in read.items() if name in names or self._ties(one, name))
            if any(place in self.kept.get(one, (place,)) for one in readers):
                yield text

    def _ties(self, class_name: str, field_name: str) -> bool:
        return field_name == TIED and class_name in self.tying


@lru_cache(maxsize=32)
def unsized(build: Callable[[Sizes], nn.Module]) -> Unsized:
    """The fields of the built model's config that nobody asked for as sizes."""
    from forwardbook.analyzers.instances.pretrained.configs import named_parts

    asked: set[str] = set()

    def noted(name: str, hint: int, meaning: str = "", source: str = "") -> int:
        asked.add(name)
        return hinted(name, hint, meaning, source)

    with torch.device("meta"):
        model = build(noted)
    config = getattr(model, "config", None)
    if config is None:
        return Unsized(class_name(model))
    places = list(named_parts(config))
    told = [
        (place, called, text)
        for place, part in places
        for name, value in vars(part).items()
        if not name.startswith("_") and (text := _said(place, name, value, asked))
        for called in (name, *(other for other, real in part.attribute_map.items() if real == name))
    ]
    return Unsized(
        class_name(model),
        tuple(told),
        _kept(model, {id(part): place for place, part in places}),
        frozenset(class_name(module) for module in model.modules() if may_tie(module)),
    )


def _kept(model: nn.Module, places: Mapping[int, str]) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for module in model.modules():
        kept = {places[id(value)] for value in vars(module).values() if id(value) in places}
        if kept:
            found.setdefault(class_name(module), set()).update(kept)
    return {name: frozenset(kept) for name, kept in found.items()}


def _said(place: str, name: str, value: object, asked: Collection[str]) -> str:
    """What is said of a field; nothing of one that is a size, or changes no cost."""
    full = place + name
    if value is None:
        return f"{BUILT}{full}{LEFT_OUT}"
    if full in asked or any(one.startswith(f"{full}.") for one in asked) or NO_COST.search(name):
        return ""
    if not _matters(name, value):
        return ""
    text = json.dumps(value, default=str)
    return f"{CONFIGURED}{full}={text if len(text) <= LONGEST else text[:LONGEST] + CUT}"


def _matters(name: str, value: object) -> bool:
    """Whether the cost may follow from a value of its kind; layers are counted, however many there are."""
    if isinstance(value, bool):
        return True
    if isinstance(value, str):
        return bool(value)
    if isinstance(value, int):
        return not (SKIPPED.search(name) or DEPTH.match(name) or name in DERIVED)
    if isinstance(value, float):
        return not VALUES.search(name)
    if not isinstance(value, list | tuple | dict) or SKIPPED.search(name) or VALUES.search(name):
        return False
    return _holds_number(value) or LAYERS.search(name) is not None


def _holds_number(value: object) -> bool:
    """Whether integers are within; those of rotary embeddings change values and no cost."""
    if isinstance(value, dict):
        return "rope_type" not in value and any(map(_holds_number, value.values()))
    if isinstance(value, list | tuple):
        return any(map(_holds_number, value))
    return type(value) is int

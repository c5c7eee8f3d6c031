"""The source of a class and of those it calls in; what formulas of it take for granted out, in words."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final

import torch
from torch import nn

from forwardbook.analyzers.instances.pretrained.fields import SKIPPED
from forwardbook.analyzers.instances.recipe import Recipe, Sizes, hinted
from forwardbook.analyzers.reader import Autocast, Facts, ReaderError, autocasts, read_class
from forwardbook.schema import BUILT, CONFIGURED, LEFT_OUT

LONGEST: Final = 120
"""Characters of a list of numbers that are told."""
CUT: Final = "..."
NAMES_OF_LABELS: Final = "label2id"
"""A mapping to numbers that are no more than labels."""


def left_out(recipe: Recipe, classes: Iterable[str]) -> tuple[str, ...]:
    """What the classes read of the config and formulas have no size for: None, and lists of numbers.

    A field of a config within the config has its full name, `text_config.sliding_window`.
    """
    if not recipe.target.startswith("transformers."):
        return ()
    read = {field for name in classes if name.startswith("transformers.") for field in _fields(name)}
    told = _unsized(recipe.build)
    return tuple(text for name, text in told if name.rpartition(".")[2] in read)


@lru_cache(maxsize=32)
def _unsized(build: Callable[[Sizes], nn.Module]) -> tuple[tuple[str, str], ...]:
    """Fields of the built model's config that are None or hold numbers that nobody asked for as sizes."""
    from forwardbook.analyzers.instances.pretrained.configs import named_parts

    asked: set[str] = set()

    def noted(name: str, hint: int, meaning: str = "", source: str = "") -> int:
        asked.add(name)
        return hinted(name, hint, meaning, source)

    with torch.device("meta"):
        config = getattr(build(noted), "config", None)
    if config is None:
        return ()
    fields = [
        (prefix + name, value)
        for prefix, part in named_parts(config)
        for name, value in vars(part).items()
        if not name.startswith("_")
    ]
    return tuple((name, text) for name, value in fields if (text := _said(name, value, asked)))


def _said(name: str, value: object, asked: Collection[str]) -> str:
    """What is said of a field; nothing of one that is a size, a switch, or a single number."""
    if value is None:
        return f"{BUILT}{name}{LEFT_OUT}"
    if not isinstance(value, list | tuple | dict) or not _holds_number(value):
        return ""
    if SKIPPED.search(name) or name.endswith(NAMES_OF_LABELS):
        return ""
    if any(one.startswith(f"{name}.") for one in asked):
        return ""
    text = json.dumps(value, default=str)
    return f"{CONFIGURED}{name}={text if len(text) <= LONGEST else text[:LONGEST] + CUT}"


def _holds_number(value: object) -> bool:
    """Whether integers are within; those of rotary embeddings change values and no cost."""
    if isinstance(value, dict):
        return "rope_type" not in value and any(map(_holds_number, value.values()))
    if isinstance(value, list | tuple):
        return any(map(_holds_number, value))
    return type(value) is int


@lru_cache(maxsize=1024)
def _fields(name: str) -> frozenset[str]:
    """The fields of its config that a class reads, by its source; none of a class that has no source."""
    try:
        facts = read_class(name)
    except ReaderError:
        return frozenset()
    return frozenset(_read(facts))


def _read(facts: Facts) -> Iterator[str]:
    for function in (facts.forward, facts.constructor, *facts.helpers):
        if function is not None:
            yield from (read.field for read in function.config_reads)
            yield from (field for branch in function.branches for field in branch.config_fields)


def uncast(facts: Facts, classes: Iterable[str]) -> tuple[str, ...]:
    """Where code that runs asks for automatic casting, which meta tensors do not take part in."""
    found = [one for name in classes if not name.startswith("torch.") for one in _within(name)]
    if not facts.full_class_name.startswith("torch."):  # torch itself casts nothing on its own account
        found = [*autocasts(facts.name, Path(facts.file)), *found]
    return tuple(
        dict.fromkeys(
            f"{one.code} at {one.file}:{one.line} does not reach the meta device: "
            "what runs inside is counted in the types that it has without"
            for one in found
        )
    )


def _within(name: str) -> tuple[Autocast, ...]:
    """Those of a class that ran; a module of no package is found by its file."""
    module, _, last = name.rpartition(".")
    file = getattr(sys.modules.get(module), "__file__", None)
    return autocasts(name) if file is None else autocasts(last, Path(file))

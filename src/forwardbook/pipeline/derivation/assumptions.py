"""The source of a class and of those it calls in; what formulas of it take for granted out, in words."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final

import torch
from torch import nn

from forwardbook.analyzers.instances.recipe import Recipe, Sizes, hinted
from forwardbook.analyzers.reader import Autocast, Facts, ReaderError, autocasts, read_class
from forwardbook.schema import BUILT, LEFT_OUT


def left_out(recipe: Recipe, classes: Iterable[str]) -> tuple[str, ...]:
    """The fields that the classes read and the config has as None, and how many labels a head has.

    A field of a config within the config has its full name, `text_config.sliding_window`.
    """
    if not recipe.target.startswith("transformers."):
        return ()
    read = {field for name in classes if name.startswith("transformers.") for field in _fields(name)}
    nones = _nones(recipe.build)
    said = [f"{BUILT}{name}{LEFT_OUT}" for name in nones if name.rpartition(".")[2] in read]
    return (*said, *(labels_said(count) for count in _labels(recipe.build) if LABELS in read))


LABELS: Final = "num_labels"
"""A property of every config of transformers: the length of a mapping, `id2label`, which is no size."""


def labels_said(count: int) -> str:
    """What is said of a head whose width is a number in the formulas."""
    return f"a head of {count} labels ({LABELS} is the length of id2label, and no size of the formulas)"


@lru_cache(maxsize=32)
def _labels(build: Callable[[Sizes], nn.Module]) -> tuple[int, ...]:
    """How many labels the model has that is built; nothing where its config tells none."""
    with torch.device("meta"):
        count = getattr(getattr(build(hinted), "config", None), LABELS, None)
    return (count,) if type(count) is int else ()


@lru_cache(maxsize=32)
def _nones(build: Callable[[Sizes], nn.Module]) -> tuple[str, ...]:
    from forwardbook.analyzers.instances.pretrained.configs import named_parts

    with torch.device("meta"):
        config = getattr(build(hinted), "config", None)
    if config is None:
        return ()
    return tuple(
        prefix + name
        for prefix, part in named_parts(config)
        for name, value in vars(part).items()
        if value is None and not name.startswith("_")
    )


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

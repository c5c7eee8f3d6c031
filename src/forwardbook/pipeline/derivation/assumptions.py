"""The source of a class and of those it calls in; what formulas of it take for granted out, in words."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path

import torch
from torch import nn

from forwardbook.analyzers.instances.recipe import Recipe, Sizes, hinted
from forwardbook.analyzers.reader import Autocast, Facts, ReaderError, autocasts, read_class
from forwardbook.schema import BUILT, LEFT_OUT


def left_out(recipe: Recipe, classes: Iterable[str]) -> tuple[str, ...]:
    """The fields that the classes read and the config has as None: with a number, costs may be others.

    A field of a config within the config has its full name, `text_config.sliding_window`.
    """
    if not recipe.target.startswith("transformers."):
        return ()
    read = {field for name in classes if name.startswith("transformers.") for field in _fields(name)}
    nones = _nones(recipe.build)
    return tuple(f"{BUILT}{name}{LEFT_OUT}" for name in nones if name.rpartition(".")[2] in read)


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

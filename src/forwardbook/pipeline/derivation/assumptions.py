"""The source of a class and of those it calls in; what formulas of it take for granted out, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from forwardbook.analyzers.instances.imports import imported
from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.reader import Autocast, Facts, ReaderError, autocasts, read_class
from forwardbook.pipeline.derivation.unsized import unsized


def left_out(recipe: Recipe, classes: Iterable[str]) -> tuple[str, ...]:
    """What the classes read of the config and formulas have no size for: None, switches, names, lists ...

    A field of a config within the config has its full name, `text_config.sliding_window`.
    """
    if not recipe.target.startswith("transformers."):
        return ()
    read = {name: _fields(name) for name in classes if name.startswith("transformers.")}
    return tuple(dict.fromkeys(unsized(recipe.build).of(read)))


@lru_cache(maxsize=1024)
def _fields(name: str) -> frozenset[str]:
    """The fields of its config that a class reads, by its source; none of a class that has no source."""
    try:
        facts = read_class(name)
    except ReaderError:
        return frozenset()
    return frozenset(part for one in _read(facts) for part in one.split("."))


def _read(facts: Facts) -> Iterator[str]:
    for function in (facts.forward, facts.constructor, *facts.makers, *facts.helpers):
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
    file = getattr(imported(module), "__file__", None)
    return autocasts(name) if file is None else autocasts(last, Path(file))

"""A model that holds classes in; out the ways to call it: plainly, as its errors ask, with more than that."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from forwardbook.analyzers.instances.adapters.adapter import Way
from forwardbook.analyzers.instances.recipe import InstanceOptions, full_name

if TYPE_CHECKING:
    from forwardbook.analyzers.instances.pretrained.models import Holder


def plainly(holder: Holder, missing: Collection[str]) -> tuple[Way, Holder] | None:
    """The way through one model, which may be mended; None where it holds nothing that is missing."""
    from forwardbook.analyzers.instances.pretrained.mended import built
    from forwardbook.analyzers.instances.pretrained.recipes import holder_recipes
    from forwardbook.analyzers.instances.pretrained.submodules import names_in

    itself = full_name(holder.model_class)
    kind = str(getattr(holder.config_class, "model_type", ""))
    try:
        holder, model = built(holder)
        held = names_in(model) & frozenset(missing)
        del model
        if not held:
            return None
    except Exception as error:  # building somebody else's model raises anything
        if holder.settings:
            return None
        return Way(described_as(holder), frozenset({itself} & set(missing)), problem=error, kind=kind), holder
    try:
        recipe = holder_recipes(itself, holder, InstanceOptions(), "")[0]
    except Exception as error:  # a signature or a config that nothing can be said of
        return Way(described_as(holder), held, problem=error, kind=kind), holder
    return Way(described_as(holder), held, recipe, kind=kind), holder


def as_asked(holder: Holder, way: Way, missing: Collection[str]) -> Iterator[Way]:
    """The same model with the parameters and the fields of its config that its errors ask for."""
    import torch

    from forwardbook.analyzers.instances.pretrained.attempts import attempts
    from forwardbook.analyzers.instances.pretrained.inputs import plans
    from forwardbook.analyzers.instances.pretrained.mended import built
    from forwardbook.analyzers.instances.pretrained.recipes import given

    for tried, plan in attempts(holder):
        if plan is None:
            found = plainly(tried, missing)
            if found is None or found[0].recipe is None:
                return
            way = found[0]
            yield way
            if not way.holds <= frozenset(missing):
                return
            continue
        assert way.recipe is not None
        with torch.device("meta"):
            first = plans(built(tried)[1])[0]
        added = ", ".join(sorted(name for name in plan if plan[name] != first.get(name)))
        recipe = given(way.recipe, plan)
        yield replace(
            way, name=f"{way.name} given {added}", holds=way.holds & frozenset(missing), recipe=recipe
        )


def with_places(holder: Holder, way: Way, missing: Collection[str]) -> Iterator[Way]:
    """The same model with images, sounds or films in places of its text; other images where none fit."""
    import torch

    from forwardbook.analyzers.instances.pretrained.mended import built
    from forwardbook.analyzers.instances.pretrained.placeholders import TOWERS, placed, scales
    from forwardbook.analyzers.instances.pretrained.recipes import holder_recipes

    if not any(hasattr(holder.model_class, method) for method, _ in TOWERS):
        return
    for trial in (holder, *(replace(holder, mends={**holder.mends, **more}) for more in scales(holder))):
        try:
            with torch.device("meta"):
                _, model = built(trial)
            recipe = way.recipe
            if trial is not holder:
                recipe = holder_recipes(full_name(trial.model_class), trial, InstanceOptions(), "")[0]
        except Exception:  # noqa: BLE001, S112 - a model may refuse images of another size as it likes
            continue
        assert recipe is not None
        wanted = way.holds & frozenset(missing)
        for one in placed(model):
            held = way.holds & frozenset(missing)
            if held:
                named = f"{described_as(trial)} with {one.method}"
                with_it = replace(recipe, inputs=one, alternatives=())
                yield replace(way, name=named, holds=held, recipe=with_it)
        left = way.holds & frozenset(missing)
        if not left or left < wanted:
            return  # these fit; what they did not reach others will not


def with_more(holder: Holder, way: Way, missing: Collection[str]) -> Iterator[Way]:
    """The same model with one parameter more where that reaches what is missing."""
    import torch

    from forwardbook.analyzers.instances.pretrained.mended import built
    from forwardbook.analyzers.instances.pretrained.optional import reaching
    from forwardbook.analyzers.instances.pretrained.recipes import given

    held = way.holds & frozenset(missing)
    if not held:
        return
    with torch.device("meta"):
        _, model = built(holder)
    assert way.recipe is not None
    for name, plan in reaching(model, held):
        recipe = given(way.recipe, plan)
        yield replace(way, name=f"{way.name} given {name}", holds=held & frozenset(missing), recipe=recipe)


def described_as(holder: Holder) -> str:
    """The model, and all that is not as in its default config."""
    said = [f"{name}={_short(value)}" for name, value in {**holder.settings, **holder.mends}.items()]
    return " ".join([holder.model_class.__name__, *said, *(["all layers"] if holder.deep else [])])


def _short(value: object) -> str:
    text = str(value) if isinstance(value, int | float | str | list | tuple | dict) else type(value).__name__
    return text if len(text) <= 40 else f"{text[:36]} ..."

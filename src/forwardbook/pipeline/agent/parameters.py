"""Parameters that nothing gave a value in; those that a model proposed and the proof confirmed out."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from pydantic import JsonValue

from forwardbook.agents.analyst import Failure, Task
from forwardbook.agents.choose import Chosen
from forwardbook.agents.flow import diagnostics, settle_all
from forwardbook.agents.requests import Preview
from forwardbook.agents.roles.parameter_analyst import (
    ROLE,
    Confirm,
    Missing,
    Place,
    Values,
    evaluated,
    numbers_of,
    task,
)
from forwardbook.agents.served import numbered
from forwardbook.models.populated import Opinion, Populated, PopulatedLayer, Value, first_of
from forwardbook.pipeline.model.steps import Steps
from forwardbook.pipeline.store import write_diagnostics

if TYPE_CHECKING:
    from torch import nn

_CONFIRMED = ("agrees", "same arithmetic")


@dataclass(frozen=True)
class Filled:
    """The parameters with what was confirmed, and a line about each: what came from whom."""

    populated: Populated
    notes: tuple[str, ...] = ()


def filled(steps: Steps, found: Populated, chosen: Chosen) -> Filled:
    """Ask for parameters without which no formula of a layer can be evaluated; keep what is confirmed."""
    module = steps.model.module()
    asked = _task(steps, found, module, chosen)
    if asked is None:
        return Filled(found)
    [outcome] = asyncio.run(settle_all([asked], chosen.analyst))
    if isinstance(outcome, Failure):
        told = diagnostics(asked, chosen.analyst.model, outcome)
        path = write_diagnostics(steps.slug(), told, steps.workspace)
        first = outcome.detail.splitlines()[0] if outcome.detail else ""
        return Filled(found, (f"parameters stay unresolved ({outcome.kind}): {first}; see {path}",))
    assert isinstance(outcome.value, Values)
    numbers = numbers_of(_config(steps, module))
    given = evaluated(outcome.value, numbers)
    sources = {(one.owner, one.name): f"{one.formula}: {one.source}" for one in outcome.value.values}
    values = {
        place: Value(value=number, origin="agent", source=f"{outcome.model}: {sources[place]}")
        for place, number in given.items()
    }
    made = with_values(found, values)
    made = made.model_copy(update={"opinions": steps.opinions(made)})
    return Filled(made, tuple(_notes(values)))


def previewed(steps: Steps, found: Populated, chosen: Chosen) -> Preview | None:
    """What would be sent, None where nothing is open."""
    asked = _task(steps, found, steps.model.module(), chosen)
    return chosen.preview(asked) if asked is not None else None


def open_parameters(found: Populated) -> dict[str, list[str]]:
    """By layer, the missing parameters without which its formulas cannot be held against the model's."""
    needed: dict[str, list[str]] = {}
    for one in (one for told in found.opinions.values() for one in told if one.state == "no regime"):
        layer = found.at(one.layer)
        names = [name for name in one.unknown if layer is not None and name in layer.missing]
        if names:
            needed[one.layer] = list(dict.fromkeys([*needed.get(one.layer, ()), *names]))
    return needed


def with_values(found: Populated, values: Mapping[Place, Value]) -> Populated:
    """The layers with further values; they are no longer missing."""
    by_layer: dict[int, dict[str, Value]] = {}
    for (owner, name), value in values.items():
        layer = found.at(owner)
        if layer is not None:
            by_layer.setdefault(id(layer), {})[name] = value

    def changed(layer: PopulatedLayer) -> PopulatedLayer:
        new = by_layer.get(id(layer), {})
        return layer.model_copy(
            update={
                "parameters": {**layer.parameters, **new},
                "missing": [name for name in layer.missing if name not in new],
                "sub_layers": [changed(one) for one in layer.sub_layers],
            }
        )

    return found.model_copy(update={"layers": [changed(one) for one in found.layers]})


def _task(steps: Steps, found: Populated, module: nn.Module, chosen: Chosen) -> Task | None:
    open_ = open_parameters(found)
    if not open_:
        return None
    missing = [
        one
        for owner, names in open_.items()
        if (layer := found.at(owner)) is not None
        for one in _missing(steps, owner, layer, names, module)
    ]
    texts = {k: v for name in open_ for k, v in _texts(module, name)}
    config = _config(steps, module)
    limits = chosen.limits(ROLE)
    return task(found.model_id, missing, config, texts, limits, _confirm(steps, found))


def _missing(
    steps: Steps, owner: str, layer: PopulatedLayer, names: Sequence[str], module: nn.Module
) -> Iterator[Missing]:
    entry = steps.entry(layer.entry) if layer.entry else None
    known = {one.name: one for one in entry.parameters} if entry is not None else {}
    built = str(module.get_submodule(first_of(owner))).splitlines()[0]
    for name in names:
        one = known.get(name)
        meaning = f"{one.meaning} (from {one.source})" if one is not None else ""
        yield Missing(name, owner, meaning, built)


def _texts(module: nn.Module, name: str) -> Iterator[tuple[str, str]]:
    """The source of a layer's class, and of the classes around it, which build it."""
    parts = first_of(name).split(".") if name else []
    for end in range(len(parts), -1, -1):
        kind = type(module.get_submodule(".".join(parts[:end])))
        with contextlib.suppress(OSError, TypeError):  # a class without a source
            yield kind.__name__, numbered(inspect.getsource(kind))


def _config(steps: Steps, module: nn.Module) -> dict[str, JsonValue]:
    """The whole configuration, defaults included, as JSON."""
    config = getattr(module, "config", None)
    if config is None or not hasattr(config, "to_json_string"):
        return dict(steps.model.architecture.config)
    return cast("dict[str, JsonValue]", json.loads(config.to_json_string(use_diff=False)))


def _confirm(steps: Steps, found: Populated) -> Confirm:
    """Values are confirmed where the entry's formulas with them equal those of the whole model's run."""

    async def confirm(given: Mapping[Place, int]) -> str:
        values = {place: Value(value=number, origin="agent") for place, number in given.items()}
        opinions = await asyncio.to_thread(steps.opinions, with_values(found, values))
        names = dict.fromkeys(owner for owner, _ in given)
        return "\n".join(line for name in names if (line := _doubt(name, given, opinions)))

    return confirm


def _doubt(name: str, given: Mapping[Place, int], opinions: Mapping[str, list[Opinion]]) -> str:
    """Why the values of a layer are not confirmed; empty where they are in every phase that tells."""
    told = [one for phase in opinions.values() for one in phase if one.layer == name]
    mine = {parameter: number for (owner, parameter), number in given.items() if owner == name}
    values = ", ".join(f"{parameter} = {number}" for parameter, number in mine.items())
    for one in told:
        if one.state == "differs":
            return f"with {values} the formulas of {name} differ from what the model costs there, {one.told}"
    if not any(one.state in _CONFIRMED for one in told):
        return f"with {values} no formulas of {name} hold where the model runs it; leave them out"
    return ""


def _notes(values: Mapping[Place, Value]) -> Iterator[str]:
    for (owner, name), value in values.items():
        yield f"{name} = {value.value} of {owner}: proposed by {value.source}; confirmed by the proof"

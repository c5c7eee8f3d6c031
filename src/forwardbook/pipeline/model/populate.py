"""An architecture and the module database in; the architecture with a value for every parameter out."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from forwardbook.models.architecture import Architecture, Layer
from forwardbook.models.populate import Known, value_of
from forwardbook.models.populated import Populated, PopulatedLayer, first_of
from forwardbook.pipeline.model.find import config_digest
from forwardbook.schema import WIDTH_NAMES
from forwardbook.workspace import Database

if TYPE_CHECKING:
    from torch import nn


def populated(architecture: Architecture, module: nn.Module, database: Database) -> Populated:
    """Every layer with the parameters of its class, each with where it comes from."""
    filler = _Filler(module, database.keys_by_class(), database)
    count = sum(p.numel() for p in module.parameters())
    head = {"name": "", "class": architecture.model_class, "repeat": 1, "kind": "composite"}
    whole = Layer.model_validate({**head, "parameter_count": count, "sub_layers": architecture.layers})
    filled = filler.layer(whole, "", ())
    values = [one for _, layer in filled.walk() for one in layer.parameters.items()]
    templates = [name for name, value in values if value.origin == "runtime"]
    return Populated(
        model_id=architecture.model_id,
        aliases=architecture.aliases,
        source=architecture.source,
        model_class=architecture.model_class,
        config_class=architecture.config_class,
        config=architecture.config,
        inputs=architecture.inputs,
        proposal=architecture.proposal,
        notes=architecture.notes,
        config_digest=config_digest(architecture),
        database_digest=database_digest(filled, database),
        runtime=sorted({*templates, *WIDTH_NAMES}),
        layers=[filled],
    )


def database_digest(layer: PopulatedLayer, database: Database) -> str:
    """A hash of all entries that stand for layers, formulas included."""
    keys = sorted({found.entry for _, found in layer.walk() if found.entry and found.entry in database})
    raw = [[key, database.raw(key)] for key in keys]
    return hashlib.sha256(json.dumps(raw, sort_keys=True).encode()).hexdigest()[:16]


class _Filler:
    """Fills layers from the module that stands at their place."""

    def __init__(self, module: nn.Module, keys: Mapping[str, str], database: Database) -> None:
        self.root, self.keys, self.database = module, keys, database

    def layer(self, layer: Layer, path: str, configs: tuple[Mapping[str, object], ...]) -> PopulatedLayer:
        place = f"{path}.{layer.name}" if path and layer.name else layer.name or path
        module = self.root.get_submodule(first_of(place)) if place else self.root
        own = _config(module)
        around = (own, *configs) if own and (not configs or own != configs[0]) else configs
        key = self.keys.get(layer.class_name)
        entry = self.database.resolved(key)[1] if key else None
        known = Known(around, _attributes(module), _defaults(type(module)))
        values = {p.name: value_of(p, known) for p in entry.parameters} if entry else {}
        return PopulatedLayer.model_validate(
            {
                **layer.model_dump(by_alias=True, exclude={"sub_layers"}),
                "entry": key,
                "parameters": {name: v for name, v in values.items() if v is not None},
                "missing": [name for name, v in values.items() if v is None],
                "sub_layers": [self.layer(child, place, around) for child in layer.sub_layers],
            }
        )


def _config(module: nn.Module) -> dict[str, object]:
    """The fields of the module's config, with what its class computes from them."""
    config = getattr(module, "config", None)
    if config is None or not hasattr(config, "to_dict"):
        return {}
    fields = cast("dict[str, object]", config.to_dict())
    names = getattr(type(config), "attribute_map", {})
    return {**fields, **{name: fields[to] for name, to in names.items() if to in fields}}


def _attributes(module: nn.Module) -> dict[str, object]:
    found: dict[str, object] = {name: v for name, v in vars(module).items() if not name.startswith("_")}
    weight = getattr(module, "weight", None)
    if weight is not None and hasattr(weight, "shape") and "hidden_size" not in found and weight.dim() == 1:
        found["hidden_size"] = int(weight.shape[0])
    return found


def _defaults(kind: type) -> dict[str, object]:
    try:
        described = inspect.signature(kind.__init__).parameters.values()  # type: ignore[misc]
    except (TypeError, ValueError):
        return {}
    return {p.name: p.default for p in described if p.default is not p.empty}

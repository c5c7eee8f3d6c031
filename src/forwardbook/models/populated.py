"""An architecture with a value for every parameter that its layers' formulas need, and where it is from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal

from pydantic import ConfigDict, Field, JsonValue

from forwardbook.models.architecture import Architecture, Layer
from forwardbook.schema import Record

POPULATED_VERSION: Final = 1
Origin = Literal["runtime", "config", "derived", "structure", "default", "agent"]
State = Literal["agrees", "same arithmetic", "differs", "no regime", "no entry"]


class Value(Record):
    """A number, or a template such as `{batch_size}` for what only a call decides."""

    value: int | str
    origin: Origin
    source: str = ""


class PopulatedLayer(Record):
    """A layer of the architecture with the parameters of its class's entry in the module database."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    name: str
    class_name: str = Field(alias="class")
    repeat: int = Field(ge=1)
    kind: Literal["basic", "composite"]
    parameter_count: int = Field(ge=0)
    entry: str | None = Field(default=None, description="key of the class in the module database")
    parameters: dict[str, Value] = {}
    missing: list[str] = []
    sub_layers: list[PopulatedLayer] = []

    def walk(self, path: str = "") -> Iterator[tuple[str, PopulatedLayer]]:
        """This layer and all beneath it, each with its full name."""
        name = f"{path}.{self.name}" if path and self.name else self.name or path
        yield name, self
        for layer in self.sub_layers:
            yield from layer.walk(name)

    def bare(self) -> Layer:
        """The layer without its parameters."""
        return Layer.model_validate(
            {
                "name": self.name,
                "class": self.class_name,
                "repeat": self.repeat,
                "kind": self.kind,
                "parameter_count": self.parameter_count,
                "sub_layers": [layer.bare() for layer in self.sub_layers],
            }
        )


class Opinion(Record):
    """What the module database says of one layer, and which regime of the class's entry said so.

    `same arithmetic`: flops are equal, not all bytes are, because the model calls the layer otherwise than
    the entry has it: it keeps a cache, hands in an expanded tensor or a buffer.
    """

    layer: str
    class_name: str
    state: State
    regime: str = ""
    told: str = ""
    unknown: list[str] = Field(default_factory=list, exclude_if=lambda names: not names)
    """Parameters without which no formulas of the class can be evaluated here."""


class Populated(Record):
    """The architecture's facts, and its layers with their parameters; the model itself is the first layer."""

    populated_version: int = POPULATED_VERSION
    model_id: str
    aliases: list[str] = []
    source: str = ""
    model_class: str
    config_class: str
    config: dict[str, JsonValue]
    inputs: dict[str, str] = Field(default_factory=dict, exclude_if=lambda given: not given)
    proposal: str = Field(default="", exclude_if=lambda given: not given)
    notes: list[str] = Field(default_factory=list, exclude_if=lambda given: not given)
    config_digest: str
    database_digest: str = Field(default="", description="of the entries that the parameters are for")
    runtime: list[str]
    layers: list[PopulatedLayer]
    opinions: dict[str, list[Opinion]] = Field(default={}, description="by phase, what the entries say")

    def architecture(self) -> Architecture:
        """The architecture that it was made from."""
        return Architecture(
            model_id=self.model_id,
            aliases=self.aliases,
            source=self.source,
            model_class=self.model_class,
            config_class=self.config_class,
            config=self.config,
            inputs=self.inputs,
            proposal=self.proposal,
            notes=self.notes,
            layers=[layer.bare() for layer in self.layers[0].sub_layers],
        )

    def at(self, path: str) -> PopulatedLayer | None:
        """The layer at a full name, the first where it names a range of siblings: `model.layers.0-31`."""
        return _at(self.layers[0], [part for part in first_of(path).split(".") if part])


def first_of(path: str) -> str:
    """The full name of the first of several siblings: `layers.0-31.mlp` as `layers.0.mlp`."""
    parts: list[str] = []
    for part in path.split("."):
        first = part.partition(",")[0]
        start, dash, end = first.partition("-")
        parts.append(start if dash and start.isdigit() and end.isdigit() else first)
    return ".".join(parts)


def _at(layer: PopulatedLayer, parts: list[str]) -> PopulatedLayer | None:
    if not parts:
        return layer
    for child in layer.sub_layers:
        label = child.name.split(".")
        if len(label) <= len(parts) and all(map(_covers, label, parts)):
            found = _at(child, parts[len(label) :])
            if found is not None:
                return found
    return None


def _covers(label: str, part: str) -> bool:
    if label == part:
        return True
    if not part.isdigit():
        return False
    return any(_within(one, int(part)) for one in label.split(","))


def _within(label: str, index: int) -> bool:
    start, dash, end = label.partition("-")
    if not start.isdigit():
        return False
    return int(start) <= index <= int(end) if dash and end.isdigit() else int(start) == index

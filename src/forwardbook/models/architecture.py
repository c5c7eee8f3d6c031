"""The structure of a model: nested layers with class and repeat, and the config they were built from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal

from pydantic import ConfigDict, Field, JsonValue

from forwardbook.schema import Record

ARCHITECTURE_VERSION: Final = 1


class Layer(Record):
    """A module, and `repeat - 1` siblings built alike; basic ones compute, composite ones contain others.

    What a composite's own forward() issues between its parts (attention, softmax, rotary, residual adds)
    counts too; its costs are the composite's formulas less those of its parts.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    name: str
    class_name: str = Field(alias="class")
    repeat: int = Field(ge=1)
    kind: Literal["basic", "composite"]
    parameter_count: int = Field(ge=0, description="elements of the parameters of one, parts included")
    sub_layers: list[Layer] = []

    def walk(self, path: str = "", times: int = 1) -> Iterator[tuple[str, int, Layer]]:
        """This layer and all beneath it: full name, how often it is built in all, and the layer."""
        name = f"{path}.{self.name}" if path and self.name else self.name or path
        yield name, times * self.repeat, self
        for layer in self.sub_layers:
            yield from layer.walk(name, times * self.repeat)


class Architecture(Record):
    """One model: what it is called, its class and config, where those facts come from, and its layers.

    A module of a user's own has a factory for its class, and the shapes of its `inputs` instead of a config.
    """

    architecture_version: int = ARCHITECTURE_VERSION
    model_id: str
    aliases: list[str] = []
    source: str = ""
    model_class: str
    config_class: str
    config: dict[str, JsonValue]
    inputs: dict[str, str] = Field(default_factory=dict, exclude_if=lambda given: not given)
    proposal: str = Field(default="", exclude_if=lambda given: not given)
    """Who proposed the structure of a config that no rule knows, and how that was checked."""
    notes: list[str] = Field(default_factory=list, exclude_if=lambda given: not given)
    """What to know of how its class was found, where names in its config led nowhere."""
    layers: list[Layer]

    def classes(self) -> list[str]:
        """The distinct classes of the layers, the model's own first."""
        inner = (layer.class_name for top in self.layers for _, _, layer in top.walk())
        own = [] if self.inputs else [self.model_class]  # a factory is no class
        return list(dict.fromkeys([*own, *inner]))

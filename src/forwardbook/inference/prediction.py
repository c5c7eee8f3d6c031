"""What a model says of one sample: values for a line of JSON, and what can be drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forwardbook.inference.regions import Region
from forwardbook.inference.samples import Sample

if TYPE_CHECKING:
    from PIL.Image import Image
    from pydantic import JsonValue


@dataclass(frozen=True)
class Prediction:
    """The values, and where the sample is an image, the image and the regions said to be in it."""

    values: Mapping[str, JsonValue]
    image: Image | None = None
    regions: tuple[Region, ...] = ()


Predict = Callable[[Sample], Prediction]


def as_json(region: Region) -> JsonValue:
    """A region as predictions have it: corners in pixels, upper left first."""
    points: list[JsonValue] = [[round(x, 2), round(y, 2)] for x, y in region.points]
    score = None if region.score is None else round(region.score, 6)
    return {"label": region.label, "points": points, "score": score}

"""What all shapes have."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod

PRECISION = 12
UNIT = os.environ.get("SHAPES_UNIT", "metre")


class ShapeError(ValueError):
    """A shape that cannot be."""


class Shape(ABC):
    """Something with an area."""

    corners: int = 0

    def __init__(self, name: str, scale: float = 1.0) -> None:
        self.name = name
        self.scale = scale

    @abstractmethod
    def area(self) -> float:
        """How large it is."""

    def describe(self, width: int = 40, *, unit: str = UNIT) -> str:
        """One line about the shape."""
        text = f"{self.name}: {self.area():.{PRECISION}g} square {unit}"
        return shorten(text, width)


def shorten(text: str, width: int) -> str:
    """The text, cut to a width."""
    if width < 1:
        raise ShapeError(f"a width of {width}")
    return text[:width]

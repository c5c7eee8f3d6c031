"""Shapes and what can be measured of them."""

from shapes.base import Shape
from shapes.flat import Circle, Square

__all__ = ["Circle", "Shape", "Square"]

"""Flat shapes."""

import math

from shapes.base import Shape, ShapeError


class Circle(Shape):
    """All points at one distance."""

    def __init__(self, radius: float) -> None:
        if radius < 0:
            raise ShapeError("a negative radius")
        super().__init__("circle", radius)

    def area(self) -> float:
        return math.pi * self.scale**2


class Square(Shape):
    """Four equal sides."""

    corners: int = 4

    def __init__(self, side: float, name: str = "square") -> None:
        super().__init__(name, side)

    def area(self) -> float:
        return power(self.scale, 2)

    def inner(self) -> Circle:
        """The largest circle inside."""
        return Circle(self.scale / 2)


def power(base: float, exponent: int) -> float:
    """The base times itself."""
    return math.pow(base, exponent)


def total(shapes: list[Shape], start: float = 0.0) -> float:
    """The sum of all areas."""
    for shape in shapes:
        start = add(start, shape.area())
    return start


def add(first: float, second: float) -> float:
    """Both together."""
    return first + second


def report(sides: list[float]) -> str:
    """The squares with these sides, described."""
    squares = [Square(side) for side in sides]
    largest = Square(max(sides), "largest")
    text = largest.describe(60, unit="inch")
    return text + str(total(squares, power(0.5, 2)))

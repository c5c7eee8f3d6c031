"""Symbolic integers stay symbolic through Python's number functions."""

import math

import pytest
import torch
from torch._dynamo.source import ConstantSource
from torch.fx.experimental.symbolic_shapes import ShapeEnv

from forwardbook.analyzers.static.calls import call_value
from forwardbook.analyzers.static.interpreter import Interpreter


@pytest.fixture(scope="module")
def size() -> torch.SymInt:
    """A symbolic 9."""
    shapes = ShapeEnv()
    return shapes.create_symintnode(shapes.create_symbol(9, ConstantSource("n")), hint=9)  # type: ignore[return-value]


@pytest.mark.parametrize("function", [int, round, math.floor, math.ceil])
def test_integers_stay(function: object, size: torch.SymInt) -> None:
    """int(), round(), floor() and ceil() of a symbolic integer give it back."""
    assert call_value(Interpreter(), function, (size,), {}) is size


@pytest.mark.parametrize("function", [float, math.sqrt])
def test_floats_stay(function: object, size: torch.SymInt) -> None:
    """float() and sqrt() of a symbolic integer give a symbolic float."""
    assert isinstance(call_value(Interpreter(), function, (size,), {}), torch.SymFloat)


def test_isinstance(size: torch.SymInt) -> None:
    """A symbolic integer is an int to the source."""
    ask = Interpreter().builtins["isinstance"]
    assert call_value(Interpreter(), ask, (size, int), {})
    assert not call_value(Interpreter(), ask, (size, (str, float)), {})


def test_plain_numbers() -> None:
    """Plain numbers are converted as in Python."""
    assert call_value(Interpreter(), int, ("12",), {}) == 12
    assert call_value(Interpreter(), int, ("ff", 16), {}) == 255
    assert call_value(Interpreter(), round, (2.567, 1), {}) == 2.6

"""Ordinary Python in analysed code accepts symbolic integers, and gets its own back afterwards."""

from __future__ import annotations

import copy
import json
import math
import numbers
import sys
from fractions import Fraction
from types import ModuleType

import pytest
import torch
from torch import nn

from forwardbook.analyzers.symbolic.bridges import (
    no_initialisation,
    symbols_written,
    teach_torch,
)
from forwardbook.analyzers.symbolic.followed import Integer, numbers_followed
from forwardbook.analyzers.symbolic.ledger import Ledger


def symbol(hint: int = 6) -> torch.SymInt:
    """A symbolic size."""
    return Ledger().symbol("size", hint)


def test_int_keeps_a_symbol() -> None:
    """int() of a symbolic integer is that integer, of a symbolic float its truncation, of others Python's."""
    size = symbol()

    assert Integer(size) is size  # type: ignore[comparison-overlap]
    assert (3, 12, 2) == (Integer("3"), Integer(size * 2.0).node.hint, Integer(2.9))  # type: ignore[attr-defined]


def test_symbol_is_an_integer() -> None:
    """A symbolic integer is an instance of int as analysed code sees it, and of numbers.Integral."""
    teach_torch()
    size = symbol()

    assert isinstance(size, Integer) and isinstance(size, numbers.Integral) and isinstance(4, Integer)
    assert not isinstance("4", Integer) and issubclass(bool, Integer)
    assert {int} == {Integer}


def test_numbers_protocols() -> None:
    """A symbolic integer can be hashed, copied, rounded, and given to math."""
    teach_torch()
    size = symbol()

    assert 1 == len({size, size})
    assert copy.deepcopy(size) is size and math.floor(size) is size and round(size) is size
    assert (math.sqrt(6), 3) == (math.sqrt(size), size.bit_length())  # type: ignore[attr-defined]
    assert (1, 2) == tuple(part.node.hint for part in divmod(size, 4))  # type: ignore[operator]
    assert 3 == math.floor(Fraction(size, 4) * 2)  # type: ignore[arg-type]


def test_modules_see_the_bridge_only_inside() -> None:
    """Inside the block torch's modules see another int; afterwards they see Python's."""
    space = vars(torch.nn.modules.pooling)
    with numbers_followed():
        assert space["int"] is Integer

    assert "int" not in space


def test_a_module_of_anybody_sees_the_bridge(monkeypatch: pytest.MonkeyPatch) -> None:
    """A module that never imports torch, whoever wrote it, keeps symbols in int(), float() and math."""
    widths = ModuleType("widths")
    source = "from math import sqrt\ndef whole(size):\n    return int(2 * float(size) / 3), sqrt(size)"
    exec(source, vars(widths))  # noqa: S102 - a module of one function
    monkeypatch.setitem(sys.modules, "widths", widths)
    size = symbol()

    teach_torch()
    with numbers_followed():
        assert ("trunc<4>", f"sym_sqrt<{6**0.5}>") == tuple(str(one.node) for one in widths.whole(size))
    assert (5, 2.0) == (widths.whole(7.5)[0], widths.whole(4)[1])
    assert not {"int", "float"} & vars(widths).keys()


def test_weights_are_left_as_they_are() -> None:
    """Inside the block initialisers do nothing; afterwards they work again."""
    weights = torch.full((3,), 7.0)
    with no_initialisation():
        nn.init.zeros_(weights)
        assert [7.0, 7.0, 7.0] == weights.tolist()

    assert [0.0, 0.0, 0.0] == nn.init.zeros_(weights).tolist()


def test_symbols_are_written_as_numbers() -> None:
    """A dictionary with a symbolic size is JSON with its number inside the bridge, and refused outside."""
    size = Ledger().symbol("width", 7)

    with symbols_written():
        text = json.dumps({"width": size, "half": size / 2})

    assert {"width": 7, "half": 3.5} == json.loads(text)
    with pytest.raises(TypeError):
        json.dumps({"width": size})

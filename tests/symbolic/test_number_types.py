"""What stands for `int` and `float` in analysed code, where torch asks for a dtype."""

from __future__ import annotations

import pytest
import torch

from forwardbook.analyzers.symbolic.followed import Integer, Real
from forwardbook.analyzers.symbolic.number_types import types_of_numbers


def test_torch_refuses_what_stands_for_int_by_itself() -> None:
    """It knows Python's own type by identity: without help, code that names it could not run."""
    with pytest.raises(TypeError, match="dtype"):
        torch.zeros(2, dtype=Integer)  # type: ignore[call-overload]


def test_tensors_of_int_are_tensors_of_int64() -> None:
    """From functions that make tensors, and by methods that cast them, on any device."""
    kind: object = Integer
    with types_of_numbers():
        made = [
            torch.zeros(2, dtype=kind),  # type: ignore[call-overload]
            torch.tensor([1], dtype=kind),  # type: ignore[arg-type]
            torch.ones(2).to(kind),  # type: ignore[call-overload]
            torch.ones(2).sum(dtype=kind),  # type: ignore[arg-type]
            torch.ones(2).new_full((1,), 3, dtype=kind),  # type: ignore[arg-type]
        ]
        with torch.device("meta"):
            there = torch.ones(2, dtype=kind)  # type: ignore[call-overload]
        wide = torch.zeros(2, dtype=Real)  # type: ignore[call-overload]
    assert {torch.int64} == {one.dtype for one in (*made, there)}
    assert torch.float64 == wide.dtype
    assert there.is_meta


def test_torch_is_afterwards_what_it_was() -> None:
    """Functions, methods that are a base's, and modules that are cast."""
    before = (torch.zeros, torch.Tensor.to, torch.nn.Module.to)
    with types_of_numbers():
        assert torch.zeros is not before[0]
        assert torch.float16 == torch.nn.Linear(1, 1).to(torch.float16).weight.dtype
    assert before == (torch.zeros, torch.Tensor.to, torch.nn.Module.to)
    assert "to" not in vars(torch.Tensor)

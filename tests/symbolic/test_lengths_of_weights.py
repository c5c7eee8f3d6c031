"""The lengths of a weight's slices are those that torch gives."""

from __future__ import annotations

import pytest
import torch

from forwardbook.analyzers.symbolic.lengths_of_weights import norm_except_dim


@pytest.mark.parametrize("dim", [-1, 0, 1, 2])
@pytest.mark.parametrize("power", [1, 2])
def test_lengths_are_those_of_torch(dim: int, power: int) -> None:
    """In value and in shape, whichever side is left out."""
    weight = torch.arange(24.0).reshape(2, 3, 4) - 7

    torch.testing.assert_close(norm_except_dim(weight, power, dim), torch.norm_except_dim(weight, power, dim))

"""What tests of regeneration share: as many toy classes as they ask for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from forwardbook.schema import Entry

from .toys import Toys, toy_workspace


@pytest.fixture
def toys(tmp_path: Path, make_entry: Callable[..., Entry]) -> Toys:
    """Makes a workspace of as many toy classes, each with its entry and calculator, all fresh."""
    return lambda count: toy_workspace(tmp_path / "work", make_entry, count)

"""What tests of regeneration and of the catalogue share: toy classes, and a package of six modules."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from forwardbook.schema import Entry

from .toys import Toys, toy_workspace
from .zoo import written


@pytest.fixture
def toys(tmp_path: Path, make_entry: Callable[..., Entry]) -> Toys:
    """Makes a workspace of as many toy classes, each with its entry and calculator, all fresh."""
    return lambda count: toy_workspace(tmp_path / "work", make_entry, count)


@pytest.fixture
def zoo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of six modules, one class each, in the current folder."""
    written(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path

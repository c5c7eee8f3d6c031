"""The scripts of the site in an engine without a browser, and a headless Chromium where one is installed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import forwardbook.book.site

ASSETS = Path(forwardbook.book.site.__file__).parent / "assets"
CORE = ("rational", "formula", "regimes", "amounts")


class Scripts:
    """The scripts that need no page, run by V8; values go in and come out as JSON."""

    def __init__(self) -> None:
        from py_mini_racer import MiniRacer

        self._engine = MiniRacer()
        self._engine.eval((Path(__file__).parent / "driver.js").read_text(encoding="utf-8"))
        for name in CORE:
            self._engine.eval((ASSETS / "js" / f"{name}.js").read_text(encoding="utf-8"))

    def each(self, function: str, cases: Sequence[object]) -> list[Any]:
        """What a function of driver.js answers to each case, `{"error": message}` where it throws."""
        return list(
            json.loads(self._engine.eval(f"driver.each({function!r}, {json.dumps(json.dumps(cases))})"))
        )


@pytest.fixture(scope="session")
def scripts() -> Iterator[Scripts]:
    """One engine for all tests."""
    yield Scripts()

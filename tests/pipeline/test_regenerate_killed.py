"""A regeneration as it is typed, of classes that are really derived, killed again and again."""

import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
@pytest.mark.timeout(5400)
def test_fifty_kills_lose_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After each kill all is readable and proved; what comes out is, byte for byte, as without a kill."""
    monkeypatch.syspath_prepend(str(ROOT))
    killed = importlib.import_module("benchmarks.regenerate_kills").killed

    found = killed(tmp_path, kills=50, seed=11)

    assert ([], 50) == (found.wrong, found.kills)
    assert found.derived_again <= 2 * found.kills

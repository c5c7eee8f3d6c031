"""An edit of the rules makes stale what it changed, and nothing else."""

from __future__ import annotations

import pytest

from forwardbook.analyzers.ops import RULES_VERSION, changes, rules
from forwardbook.analyzers.ops.registry import rules_version
from forwardbook.pipeline.versions import differing

EARLIER = "0" * 16


@pytest.fixture(autouse=True)
def _products_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "CHANGED", {EARLIER: frozenset({"aten.mm"}), "1" * 16: frozenset()})


@pytest.mark.parametrize(
    ("recorded", "operations", "stale"),
    [
        (EARLIER, {"aten.add", "aten.bmm"}, False),
        (EARLIER, {"aten.add", "aten.mm"}, True),
        (EARLIER, None, True),
        ("1" * 16, {"aten.mm"}, False),
        ("1" * 16, None, False),
        ("2" * 16, {"aten.add"}, True),
        (RULES_VERSION, {"aten.mm"}, False),
    ],
)
def test_an_entry_of_earlier_rules_is_stale_if_it_uses_what_changed(
    recorded: str, operations: set[str] | None, stale: bool
) -> None:
    """Of a version that nobody listed, or of operations that nobody knows, the worst is assumed."""
    assert stale == (["rules"] == differing({"rules": recorded}, "", operations))
    assert stale == (["rules"] == differing({}, recorded, operations))


def test_the_list_of_changes_is_no_part_of_the_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """The version is the same whatever is listed: else no list could name its own."""
    from pathlib import Path

    read = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda p: b"" if p.name == "changes.py" else read(p))
    assert RULES_VERSION == rules_version()


def test_operations_of_the_list_have_rules() -> None:
    """A name that no rule has would make nothing stale; the present version is not an earlier one."""
    from importlib import reload

    listed = reload(changes).CHANGED
    known = {name for record in rules() for name in record.names}
    assert not {name for names in listed.values() for name in names} - known
    assert RULES_VERSION not in listed

"""Run folders that are gone on with."""

import json
from pathlib import Path

import pytest

from forwardbook.errors import ForwardbookError
from forwardbook.workspace.run_folder import MARK, resumed_folder, run_folder


def test_resumed(tmp_path: Path) -> None:
    """A run that failed keeps its steps and its beginning, and ends complete."""
    with pytest.raises(ValueError), run_folder(tmp_path, "a run", "x") as folder:
        folder.step("one")
        raise ValueError("no")
    before = json.loads((tmp_path / "x" / MARK).read_text())
    with resumed_folder(tmp_path / "x") as folder:
        folder.step("two")
    after = json.loads((tmp_path / "x" / MARK).read_text())

    assert ("failed", "complete") == (before["status"], after["status"])
    assert (["one", "two"], before["started"], "a run") == (
        after["steps"],
        after["started"],
        after["command"],
    )


@pytest.mark.parametrize(
    ("mark", "said"),
    [
        (None, "no run.json"),
        ("{", "cannot be read"),
        ("[]", "cannot be read"),
        ('{"run_version": 99, "command": "", "steps": [], "started": ""}', "another version"),
    ],
)
def test_no_run(mark: str | None, said: str, tmp_path: Path) -> None:
    """A folder that no run of this version made is refused."""
    if mark is not None:
        (tmp_path / MARK).write_text(mark)

    with pytest.raises(ForwardbookError, match=said), resumed_folder(tmp_path):
        pass

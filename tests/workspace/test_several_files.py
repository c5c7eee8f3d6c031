"""Several files are replaced together or not at all, at whatever step the process ends."""

import contextlib
import json
import os
from pathlib import Path

import pytest

from forwardbook.workspace import WorkspaceError
from forwardbook.workspace.several_files import drop_staged, finish, is_unfinished, replace_together


class Killed(BaseException):
    """In place of a signal that no code can catch."""


def _folder(tmp_path: Path) -> tuple[Path, dict[Path, str | None]]:
    main = tmp_path / "module_db.json"
    folder = tmp_path / "module_db"
    folder.mkdir()
    main.write_text("old")
    (folder / "a.json").write_text("old a")
    (folder / "gone.json").write_text("old gone")
    return main, {
        folder / "a.json": "new a",
        folder / "b.json": "new b",
        folder / "gone.json": None,
        main: "new",
    }


def _texts(main: Path) -> dict[str, str]:
    """Every file, by name."""
    return {p.name: p.read_text() for p in main.parent.rglob("*") if p.is_file()}


OLD = {"module_db.json": "old", "a.json": "old a", "gone.json": "old gone"}
NEW = {"module_db.json": "new", "a.json": "new a", "b.json": "new b"}


@pytest.mark.parametrize("step", range(40))
def test_killed_at_any_step_all_or_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    """Ended before any call that changes the disk, the next process finds all the old or all the new."""
    main, texts = _folder(tmp_path)
    left = step

    def counted(real):  # type: ignore[no-untyped-def]
        def call(*args, **kwargs):  # type: ignore[no-untyped-def]
            nonlocal left
            if left == 0:
                raise Killed
            left -= 1
            return real(*args, **kwargs)

        return call

    with monkeypatch.context() as patch:
        for name in ("replace", "fsync", "open"):
            patch.setattr(os, name, counted(getattr(os, name)))
        patch.setattr(Path, "unlink", counted(Path.unlink))
        with contextlib.suppress(Killed):
            replace_together(main, texts)
    begun = is_unfinished(main)
    finish(main)
    drop_staged(main)

    assert _texts(main) in (OLD, NEW)
    assert not begun or NEW == _texts(main)


def test_a_disk_that_is_full_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a new file cannot be written, the old ones stay and nothing is left beside them."""
    main, texts = _folder(tmp_path)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(WorkspaceError, match="No space left"):
        replace_together(main, texts)

    assert OLD == _texts(main)


def test_a_read_only_file_is_left(tmp_path: Path) -> None:
    """A file that somebody made read-only keeps all of them from being replaced."""
    main, texts = _folder(tmp_path)
    main.chmod(0o444)

    with pytest.raises(WorkspaceError, match="read-only"):
        replace_together(main, texts)

    assert OLD == _texts(main)


@pytest.mark.parametrize(
    "name", ["../outside.json", "/etc/hosts.json", "module_db/../../x.json", "other.txt"]
)
def test_a_note_touches_files_of_the_database_alone(tmp_path: Path, name: str) -> None:
    """A note that somebody else wrote cannot lead out of the folder."""
    main = tmp_path / "inner" / "module_db.json"
    main.parent.mkdir()
    main.write_text("old")
    (tmp_path / "outside.json").write_text("kept")
    main.with_name(".module_db.json.note").write_text(json.dumps({name: True}))

    with pytest.raises(WorkspaceError, match="no file of the database"):
        finish(main)

    assert "kept" == (tmp_path / "outside.json").read_text()

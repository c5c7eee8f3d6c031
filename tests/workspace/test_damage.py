"""A database that cannot be read or written: a clear message, and not a byte of it changed."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from forwardbook.errors import ForwardbookError
from forwardbook.pipeline.store import check_writable
from forwardbook.schema import Entry
from forwardbook.workspace import Database, DatabaseError, Workspace, WorkspaceError, write_atomically

GOOD = '{"schema_version": 1, "rules_version": "", "entries": {}}'


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "stops being JSON at line 1, column 1"),
        (GOOD[:-9].encode(), "stops being JSON"),
        (b"[]", "the whole is a list"),
        (b"[" * 100_000, "cannot be read as JSON"),
        (b"\xff\xfe", "byte 0 is not UTF-8"),
        (GOOD.replace("{}", "[]").encode(), "'entries' is not an object of objects"),
        (GOOD.replace("{}", '{"a": 3}').encode(), "'entries' is not an object of objects"),
        (GOOD.replace("1,", "3,").encode(), "schema version 3, this forwardbook reads up to 2"),
        (GOOD.replace("1,", "0,").encode(), "no migration leads from 0 to 1"),
        (GOOD.replace("1,", '"1",').encode(), "schema_version is '1', no whole number"),
        (GOOD.replace("1,", "true,").encode(), "schema_version is True, no whole number"),
        (b'{\n<<<<<<< HEAD\n"schema_version": 1}', "marks of a merge that was not finished"),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else None,
)
def test_damaged_database_is_refused_and_untouched(
    tmp_path: Path, entry: Entry, content: bytes, message: str
) -> None:
    """Reading and saving both fail with what is wrong, and the file stays as it was."""
    workspace = Workspace(tmp_path)
    workspace.database_path.write_bytes(content)

    with pytest.raises(ForwardbookError, match=message) as reading:
        workspace.load()
    with pytest.raises(ForwardbookError, match=message):
        workspace.save({"a": entry})

    assert "module_db.json" in str(reading.value)
    assert content == workspace.database_path.read_bytes()


def test_bad_entry_does_not_hide_the_good_ones(tmp_path: Path, make_entry: Callable[..., Entry]) -> None:
    """An entry that is not what the schema says fails when it is asked for; the others are read."""
    workspace = Workspace(tmp_path)
    workspace.save({"a": make_entry("A"), "b": make_entry("B")})
    text = workspace.database_path.read_text(encoding="utf-8")
    workspace.database_path.write_text(text.replace("toy.layers.B", 'toy.layers.B", "colour": "red', 1))
    database = workspace.load()

    assert "toy.layers.A" == database["a"].full_class_name
    with pytest.raises(DatabaseError, match=r"entry b .*\n.*colour: Extra inputs"):
        database["b"]


def test_read_only_file_is_refused(tmp_path: Path, entry: Entry) -> None:
    """A database without write permission is not replaced, although its folder would allow it."""
    workspace = Workspace(tmp_path)
    workspace.database_path.write_text(GOOD)
    workspace.database_path.chmod(0o444)

    with pytest.raises(WorkspaceError, match="the file is read-only; nothing was changed"):
        workspace.save({"a": entry})

    assert workspace.database_path.read_text() == GOOD


def test_read_only_folder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no file can be created, the message says so."""

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("forwardbook.workspace.storage.tempfile.mkstemp", refuse)

    with pytest.raises(WorkspaceError, match="Permission denied; nothing was changed"):
        write_atomically(tmp_path / "module_db.json", GOOD)


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_interrupted_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    """When writing stops half way, by the disk or by Ctrl-C, the old file is whole and alone."""
    path = tmp_path / "module_db.json"
    path.write_text(GOOD)

    def stop(_: int) -> None:
        raise error

    monkeypatch.setattr(os, "fsync", stop)
    with pytest.raises((WorkspaceError, KeyboardInterrupt)):
        write_atomically(path, "new")

    assert path.read_text() == GOOD
    assert [path] == list(tmp_path.iterdir())


def test_link_stays_a_link(tmp_path: Path) -> None:
    """Writing through a link replaces what it leads to."""
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "link.json").symlink_to("real.json")

    write_atomically(tmp_path / "link.json", "new")

    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "real.json").read_text() == "new"


def test_number_of_thousands_of_digits_is_refused_and_untouched(tmp_path: Path, entry: Entry) -> None:
    """JSON may hold one that Python does not read: saving another entry beside it names its entry."""
    workspace = Workspace(tmp_path)
    content = GOOD.replace("1,", "2,").replace("{}", '{"long": {"line": ' + "9" * 10_000 + "}}")
    workspace.database_path.write_text(content)

    with pytest.raises(DatabaseError, match="entry long of the database: it is damaged"):
        workspace.save({"a": entry})

    assert content == workspace.database_path.read_text()


def test_links_in_a_circle_are_refused_before_minutes_of_work(tmp_path: Path) -> None:
    """What asks first whether the database can be written at the end is told that it cannot."""
    workspace = Workspace(tmp_path)
    workspace.database_path.symlink_to("module_db.json")

    with pytest.raises(WorkspaceError, match="its links lead in a circle"):
        check_writable(workspace)


@pytest.mark.parametrize(("field", "value"), [("regimes", 5), ("validation", "exact"), ("parameters", [1])])
def test_reader_of_raw_entries_is_told_what_the_schema_says(entry: Entry, field: str, value: object) -> None:
    """Code that stumbles over a shape that is none of an entry's raises the field that is wrong."""
    database = Database({"a": entry.model_dump(mode="json") | {field: value}})

    with pytest.raises(DatabaseError, match=f"entry a .*\n  {field}"), database.reading("a"):
        raise AttributeError("'int' object has no attribute 'get'")


def test_reader_that_stumbles_over_a_good_entry_has_a_fault(entry: Entry) -> None:
    """Then its own error is raised: nothing is wrong with the database."""
    with (
        pytest.raises(AttributeError, match="mine"),
        Database({"a": entry.model_dump(mode="json")}).reading("a"),
    ):
        raise AttributeError("mine")

"""The workspace: found upward, merged on save, the same for every process."""

import json
import multiprocessing
from collections.abc import Callable
from pathlib import Path

import pytest

from forwardbook.schema import Entry
from forwardbook.workspace import Workspace

Make = Callable[..., Entry]


def test_nearest_folder_upward_is_found(tmp_path: Path) -> None:
    """The workspace of a folder is the nearest one upward with a module_db.json."""
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "module_db.json").write_text("{}")

    assert Workspace(tmp_path) == Workspace.find(inner)


def test_folder_without_database_is_its_own_workspace(tmp_path: Path) -> None:
    """Where there is no module_db.json upward, the folder itself is the workspace."""
    assert Workspace(tmp_path) == Workspace.find(tmp_path)


def test_saved_entry_is_loaded(tmp_path: Path, entry: Entry) -> None:
    """An entry that was saved is read back equal."""
    Workspace(tmp_path).save({"toy_ToyAttention": entry})

    assert entry == Workspace(tmp_path).load()["toy_ToyAttention"]


def test_shipped_entries_lie_beneath(tmp_path: Path, entry: Entry, monkeypatch: pytest.MonkeyPatch) -> None:
    """Shipped entries are seen, own ones hide them, and saving does not copy them."""
    shipped, own = Workspace(tmp_path / "shipped"), Workspace(tmp_path / "own")
    shipped.save({"toy_A": entry, "toy_B": entry})
    monkeypatch.setattr("forwardbook.workspace.folder.shipped_path", lambda: shipped.database_path)
    mine = entry.model_copy(update={"library": "mine"})

    own.save({"toy_A": mine})

    assert ["toy_A", "toy_B"] == list(own.load())
    assert "mine" == own.load()["toy_A"].library
    assert ["toy_A"] == list(own.load().own)


def test_saving_twice_gives_the_same_bytes(tmp_path: Path, make_entry: Make) -> None:
    """The text of the file does not depend on the order in which entries were saved."""
    first, second = Workspace(tmp_path / "first"), Workspace(tmp_path / "second")
    first.save({"b": make_entry("B"), "a": make_entry("A")})
    second.save({"a": make_entry("A")})
    second.save({"b": make_entry("B")})
    text = first.database_path.read_text(encoding="utf-8")

    assert text == second.database_path.read_text(encoding="utf-8")
    assert text.endswith("}\n")
    assert ["a", "b"] == list(json.loads(text)["entries"])


def test_removed_entry_is_gone_and_others_stay(tmp_path: Path, make_entry: Make) -> None:
    """Only the named entries are taken out."""
    workspace = Workspace(tmp_path)
    workspace.save({"a": make_entry("A"), "b": make_entry("B")}, rules_version="7")

    workspace.save({}, remove=["a"])

    assert ["b"] == list(workspace.load().own)
    assert "7" == workspace.load().rules_version


def _save_many(root: str, prefix: str, text: str) -> None:
    entry = Entry.model_validate_json(text)
    for number in range(15):
        Workspace(Path(root)).save({f"{prefix}_{number}": entry})


def test_two_processes_at_once_lose_nothing(tmp_path: Path, entry: Entry) -> None:
    """Of two processes that save at the same time, every entry of both is in the file."""
    context = multiprocessing.get_context("fork")
    workers = [
        context.Process(target=_save_many, args=(str(tmp_path), prefix, entry.model_dump_json()))
        for prefix in ("left", "right")
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()

    assert [worker.exitcode for worker in workers] == [0, 0]
    assert 30 == len(Workspace(tmp_path).load().own)


def test_only_the_database_and_its_lock_are_left_behind(tmp_path: Path, entry: Entry) -> None:
    """Saving leaves no temporary file."""
    Workspace(tmp_path).save({"a": entry})

    assert {"module_db.json"} >= {path.name for path in tmp_path.iterdir() if path.suffix != ".lock"}

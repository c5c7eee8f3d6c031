"""Entries that stay in their file are those that the whole file holds, and cost no memory until asked for."""

import json
import random
import tracemalloc
from pathlib import Path

import pytest

from forwardbook.workspace import Workspace, WorkspaceError
from forwardbook.workspace.database_file import load_entries, render
from forwardbook.workspace.entry_file import FileTexts, file_texts
from forwardbook.workspace.packing import unpacked
from forwardbook.workspace.raw_entries import KEPT

SIGNS = ['"', "\\", "\n", "}", "{", ",", " ", "\n  }", '\n  "', "\n },\n", "é", "😀", "\u2028", "a", "1"]


def _value(rng: random.Random, depth: int = 0) -> object:
    kind = rng.randrange(6 if depth < 3 else 3)
    text = "".join(rng.choices(SIGNS, k=rng.randrange(6)))
    if kind == 0:
        return text
    if kind < 3:
        return rng.choice([None, True, rng.randrange(-(10**30), 10**30)])
    if kind < 5:
        return {f"{text}{n}": _value(rng, depth + 1) for n in range(rng.randrange(4))}
    return [_value(rng, depth + 1) for _ in range(rng.randrange(4))]


def _entries(rng: random.Random, count: int) -> dict[str, dict[str, object]]:
    made = {"".join(rng.choices(SIGNS, k=rng.randrange(5))) + str(n): _value(rng) for n in range(count)}
    return {key: value if isinstance(value, dict) else {"x": value} for key, value in made.items()}


@pytest.mark.parametrize("seed", range(60))
def test_what_stays_in_the_file_is_what_json_reads(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever keys and values hold, in steps of any size, entries are read as json reads the whole."""
    rng = random.Random(seed)
    monkeypatch.setattr("forwardbook.workspace.entry_file._STEP", rng.choice([1, 7, 100, 1 << 20]))
    entries = _entries(rng, rng.randrange(1, 9))
    path = tmp_path / "module_db.json"
    path.write_text(render(entries, "r"), encoding="utf-8")

    found = file_texts(path, (1, 2))

    assert found is not None
    assert "r" == found[1].rules_version
    assert entries == {key: unpacked(json.loads(text)) for key, text in found[0].items()}


@pytest.mark.parametrize("seed", range(40))
def test_a_file_that_anybody_changed_is_read_as_json_reads_it(tmp_path: Path, seed: int) -> None:
    """With signs inserted or removed anywhere: the same entries as json, or left to the whole reading."""
    rng = random.Random(seed)
    entries = _entries(rng, 3)
    text = render(entries, "r")
    path = tmp_path / "module_db.json"
    for _ in range(40):
        at = rng.randrange(len(text))
        changed = text[:at] + rng.choice([*SIGNS, ""]) + text[at + rng.randrange(3) :]
        path.write_text(changed, encoding="utf-8")
        found = file_texts(path, (1, 2))
        if found is not None:
            whole = json.loads(changed)
            assert whole["entries"] == {key: json.loads(text) for key, text in found[0].items()}
            assert whole["rules_version"] == found[1].rules_version


@pytest.mark.parametrize("indent", [None, 2, 4])
def test_other_forms_are_read_whole(tmp_path: Path, indent: int | None) -> None:
    """A database that some other program formatted has the same entries."""
    entries = _entries(random.Random(1), 4)
    content = {"entries": entries, "rules_version": "r", "schema_version": 1}
    path = tmp_path / "module_db.json"
    path.write_text(json.dumps(content, indent=indent), encoding="utf-8")

    assert file_texts(path, (1, 2)) is None
    assert (entries, "r") == (dict(load_entries(path)[0]), "r")


def test_a_file_that_is_replaced_is_read_on_as_it_was(tmp_path: Path) -> None:
    """Whoever has loaded a database keeps what it held, also when another process saves."""
    path = tmp_path / "module_db.json"
    path.write_text(render({"a": {"x": 1}}, ""), encoding="utf-8")
    database = Workspace(tmp_path).load()
    (tmp_path / "new").write_text(render({"a": {"x": 2}}, ""), encoding="utf-8")
    (tmp_path / "new").replace(path)

    assert {"x": 1} == database.raw("a")
    assert {"x": 2} == Workspace(tmp_path).load().raw("a")


def test_a_file_that_is_written_into_is_told(tmp_path: Path) -> None:
    """An editor that writes into the file in place ends the reading; nothing torn is taken for an entry."""
    path = tmp_path / "module_db.json"
    path.write_text(render({"a": {"x": 1}}, ""), encoding="utf-8")
    database = Workspace(tmp_path).load()
    path.write_text(render({"another": {"x": 1}}, ""), encoding="utf-8")

    with pytest.raises(WorkspaceError, match="wrote into the file while it was read; run again"):
        database.raw("a")


def test_a_large_database_is_not_kept_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 24 MB, read through once, less than a fifth is ever held; the shipped database is none of them."""
    monkeypatch.setattr("forwardbook.workspace.folder.shipped_path", lambda: None)
    entries = {f"k{n:04d}": {"full_class_name": f"a.B{n}", "text": "word " * 5000} for n in range(960)}
    path = tmp_path / "module_db.json"
    path.write_text(render(entries, ""), encoding="utf-8")
    del entries
    tracemalloc.start()
    try:
        database = Workspace(tmp_path).load()
        assert {f"a.B{n}" for n in range(960)} <= {database.head(key).full_class_name for key in database}
        assert 960 * 25_000 == sum(len(str(database.raw(f"k{n:04d}")["text"])) for n in range(960))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert peak < path.stat().st_size / 5
    assert KEPT == len(database.own._decoded)  # type: ignore[attr-defined]


def test_the_file_is_closed_with_the_last_who_holds_it(tmp_path: Path) -> None:
    """No descriptor is left behind."""
    path = tmp_path / "module_db.json"
    path.write_text(render({"a": {"x": 1}}, ""), encoding="utf-8")
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(20):
        found = file_texts(path, (1, 2))
        assert found is not None
        assert isinstance(found[0], FileTexts)
    del found

    assert before == len(list(Path("/proc/self/fd").iterdir()))

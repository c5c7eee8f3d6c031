"""The database in memory: keys, entries that share their formulas, migrations."""

from collections.abc import Callable

import pytest

from forwardbook.schema import Entry
from forwardbook.workspace.database import Database, DatabaseError
from forwardbook.workspace.migrations import Json, migrated

Make = Callable[..., Entry]


def _database(**entries: Entry) -> Database:
    return Database({key: entry.model_dump(mode="json") for key, entry in entries.items()})


def test_same_as_leads_to_the_formulas(make_entry: Make) -> None:
    """The entry with the formulas is found through any number of entries that share them."""
    database = _database(a=make_entry("A"), b=make_entry("B", same_as="a"), c=make_entry("C", same_as="b"))

    assert ("a", database["a"]) == database.resolved("c")


@pytest.mark.parametrize(
    ("target", "problem"), [("b", "leads back to itself"), ("x", "is not in the database")]
)
def test_broken_same_as_is_an_error(make_entry: Make, target: str, problem: str) -> None:
    """An entry that shares the formulas of itself, or of nobody, is refused."""
    with pytest.raises(DatabaseError, match=problem):
        _database(b=make_entry("B", same_as=target)).resolved("b")


def test_key_is_library_and_class(entry: Entry) -> None:
    """A class that is alone with its name has a short key, and keeps it."""
    assert "toy_ToyAttention" == _database().key_for("toy", "toy.layers.ToyAttention")
    assert "toy_ToyAttention" == _database(toy_ToyAttention=entry).key_for("toy", "toy.layers.ToyAttention")


def test_second_class_of_a_name_gets_its_module_path(entry: Entry) -> None:
    """Where the short key is taken by another class, the module path disambiguates."""
    database = _database(toy_ToyAttention=entry)

    assert "toy_other_file_ToyAttention" == database.key_for("toy", "toy.other.file.ToyAttention")


def test_class_is_found_by_full_name(entry: Entry) -> None:
    """The key of a full class name, or None."""
    database = _database(key=entry)

    assert "key" == database.key_of("toy.layers.ToyAttention")
    assert database.key_of("toy.layers.Other") is None


def test_older_content_is_migrated_step_by_step() -> None:
    """Content of an older version passes every step up to the current one."""

    def step(content: Json) -> Json:
        return {**content, "passed": [*content.get("passed", []), content["schema_version"]]}  # type: ignore[misc]

    result = migrated({"schema_version": 1}, "db", {1: step, 2: step}, current=3)

    assert {"schema_version": 3, "passed": [1, 2]} == result

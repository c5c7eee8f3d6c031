"""Names in a database that become Python or a path: what is none of them is refused, read or written."""

from collections.abc import Callable
from pathlib import Path

import pytest

from forwardbook.registry import from_entry
from forwardbook.schema import Entry
from forwardbook.workspace import DatabaseError, Workspace
from forwardbook.workspace.database import Database, entry_from

Make = Callable[..., Entry]

HOSTILE = [
    ("generated_class_name", "A0Calculator(Calculator):\n    pass\nopen('PWNED', 'w')\nclass Z"),
    ("generated_class_name", "class"),
    ("generated_class_name", "greatest"),
    ("generated_class_name", "ÜnïCalculator"),
    ("generated_file_name", "/tmp/evil.py"),
    ("generated_file_name", "../evil.py"),
    ("generated_file_name", "__init__.py"),
    ("generated_file_name", "evil.py\x00.py"),
    ("generated_file_name", "a" * 300 + ".py"),
    ("full_class_name", "toy.A(Calculator)"),
    ("full_class_name", "../../toy.A"),
    ("full_class_name", "toy.\x1b[31mA"),
    ("full_class_name", 'toy."""\nopen("PWNED", "w")\n"""A'),
    ("library", "/etc"),
    ("same_as", "../../other"),
]


@pytest.mark.parametrize(("field", "value"), HOSTILE, ids=lambda one: ascii(one)[:40])
def test_hostile_name_is_refused_when_read_and_when_written(
    tmp_path: Path, make_entry: Make, field: str, value: str
) -> None:
    """The message names the field, and the database on the disk stays as it was."""
    workspace = Workspace(tmp_path)
    workspace.save({"toy_ToyMLP": make_entry("ToyMLP")})
    before = workspace.database_path.read_bytes()
    spoilt = make_entry("ToyMLP").model_copy(update={field: value})

    with pytest.raises(DatabaseError, match=field):
        entry_from("toy_ToyMLP", spoilt.model_dump(mode="json"))
    with pytest.raises(DatabaseError, match=field):
        workspace.save({"toy_ToyMLP": spoilt})
    assert before == workspace.database_path.read_bytes()


@pytest.mark.parametrize("file", ["/etc/passwd", "../../evil.py", "a\\..\\b.py", "C:/x.py", ""])
def test_source_file_stays_below_its_folder(make_entry: Make, file: str) -> None:
    """A path that leads elsewhere is refused."""
    raw = make_entry().model_dump(mode="json")
    raw["code_location"]["file"] = file

    with pytest.raises(DatabaseError, match=r"code_location\.file"):
        entry_from("toy_ToyAttention", raw)


@pytest.mark.parametrize("key", ["../x", "a/b", "", "\x1b[31m", "a\ud800", ".hidden"])
def test_key_is_no_path(key: str) -> None:
    """A database with such a key is refused before anything of the entry is read."""
    with pytest.raises(DatabaseError, match="is no key of an entry"):
        Database({key: {}})


def test_calculator_of_a_class_beyond_ascii_has_ascii_names(make_entry: Make) -> None:
    """The class keeps its name; what is generated for it has letters of ASCII alone."""
    entry = make_entry("Réseau")

    assert ("toy.layers.Réseau", True) == (entry.full_class_name, entry.generated_file_name.isascii())
    assert entry_from("toy_Réseau", entry.model_dump(mode="json")) == entry
    assert "R_seauCalculator" == type(from_entry(entry)).__name__

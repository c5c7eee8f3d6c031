"""Entries decoded one by one say what the whole file says, and are written as they stand."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forwardbook.schema import Entry
from forwardbook.workspace import DatabaseError, Workspace
from forwardbook.workspace.database_file import read_entries, render
from forwardbook.workspace.raw_entries import RawEntries, content_of

Make = Callable[..., Entry]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
ENTRIES = st.dictionaries(
    st.text(max_size=6), st.dictionaries(st.text(max_size=6), VALUES, max_size=4), max_size=4
)


def _whole(entries: object) -> str:
    content = {"schema_version": 1, "rules_version": "r", "entries": entries}
    return json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


@settings(max_examples=150, deadline=None)
@given(ENTRIES)
def test_reading_and_writing_give_what_json_gives(entries: dict[str, dict[str, object]]) -> None:
    """Whatever entries hold, each is decoded as by json, and what is written of it says the same."""
    text = _whole(entries)
    if any(0xD800 <= ord(sign) < 0xE000 for sign in text):
        return  # no file holds half a character

    read, rules = read_entries(text, "a file")
    again = read_entries(render(read, "r"), "another")

    assert (entries, "r") == (dict(read), rules)
    assert (entries, "r") == (dict(again[0]), again[1])


@pytest.mark.parametrize(
    "text",
    [
        '{"schema_version": 1, "entries": {"a": {"x": NaN}}}',
        '{"schema_version": 1, "entries": {"a": {"x": 1,}}}',
        '{"schema_version": 1, "entries": {"a": 3}}',
        '{"schema_version": 0, "entries": {"a": {}}}',
        '{"schema_version": 1, "entries": []}',
        '{"schema_version": 1, "entries": {"a": {"x": ' + "[" * 100_000 + "]" * 100_000 + "}}}",
        "[]",
    ],
)
def test_what_is_not_plainly_a_database_is_left_to_the_whole_reading(text: str) -> None:
    """Damage, another version, values that JSON does not know: the careful reader tells what it is."""
    assert content_of(text.encode()) is None


def test_bytes_that_are_no_text_are_found_in_strings_that_are_passed_over() -> None:
    """A byte that is not UTF-8 is damage wherever it stands."""
    assert content_of(b'{"schema_version": 1, "entries": {"a": {"x": "\xff"}}}') is None


def test_a_head_is_had_without_the_rest() -> None:
    """Names are told of an entry whose other fields are not looked at."""
    content = _whole({"k": {"full_class_name": "a.B", "same_as": "other", "regimes": [1, 2]}}).encode()
    found = content_of(content)
    assert found is not None

    head = RawEntries(found.texts, found.version).head("k")

    assert ("a.B", "other") == (head.full_class_name, head.same_as)


def test_saving_one_entry_leaves_the_text_of_the_others(tmp_path: Path, make_entry: Make) -> None:
    """What was written by us stays byte for byte; what somebody wrote in another form is written in ours."""
    workspace = Workspace(tmp_path)
    workspace.save({"a": make_entry("A"), "b": make_entry("B")}, rules_version="1")
    ours = workspace.database_path.read_text(encoding="utf-8")
    content = json.loads(ours)
    workspace.database_path.write_text(json.dumps(content), encoding="utf-8")

    workspace.save({"b": make_entry("B")}, rules_version="1")

    assert ours == workspace.database_path.read_text(encoding="utf-8")


def test_a_number_that_no_integer_of_python_holds_is_damage(tmp_path: Path) -> None:
    """A number of thousands of digits is told as damage of its entry, when that is asked for."""
    text = '{"schema_version": 1, "rules_version": "", "entries": {"a": {"x": ' + "9" * 6000 + "}}}"
    (tmp_path / "module_db.json").write_text(text, encoding="utf-8")

    with pytest.raises(DatabaseError, match="entry a"):
        Workspace(tmp_path).load().raw("a")


def test_entries_of_a_file_are_not_decoded_to_be_counted(tmp_path: Path, make_entry: Make) -> None:
    """Loading a database decodes no entry."""
    workspace = Workspace(tmp_path)
    workspace.save({"toy_A": make_entry("A")})

    own = workspace.load().own

    assert isinstance(own, RawEntries)
    assert "toy_A" in own
    assert not own._decoded

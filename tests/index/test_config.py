"""Configuration files give their keys with types, values and lines: those that their parsers see."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Final

import pytest
import yaml  # type: ignore[import-untyped]

from forwardbook.analyzers.index.facts import FileFacts
from forwardbook.analyzers.index.one_file import index_file

ROOT: Final = Path(__file__).parents[2]
YAML: Final = """\
# settings
a: 1
b:
  c: [1, 2.5, x]
  d: &anchor
    - name: z
      on: true
    - name: w
  ? [x, y]
  : 3
  e: *anchor
---
f: !custom bar
g: |
  two
  lines
"""
TOML: Final = """\
x = 1
[tool.a]
b = ["1", 2]  # comment
"quoted.key" = {m = 1}
[[tool.list]]
name = 'q'
day = 2020-01-01
"""
JSON: Final = """{"a": {"b": [1, {"c": null}], // comment
  "d": "e\\u0301"},
 "f": -1.5e3, "g": [], "h": [[true]]}"""


def keys(name: str, text: str) -> dict[str, tuple[int, str, str]]:
    """Line, type and value of every key."""
    facts = index_file(name, text.encode())
    return {each.name: (each.line, each.annotation, each.value) for each in facts.constants}


def test_yaml() -> None:
    """YAML: nested keys, lists by the types of their items, aliases, tags and several documents."""
    assert {
        "a": (2, "integer", "1"),
        "b": (3, "mapping", ""),
        "b.c": (4, "list of integer or float or string", ""),
        "b.d": (5, "list of mapping", ""),
        "b.d[].name": (6, "string", '"z"'),
        "b.d[].on": (7, "boolean", "true"),
        "b.?": (9, "integer", "3"),
        "b.e": (11, "alias", "*anchor"),
        "f": (13, "!custom", "bar"),
        "g": (14, "string", '"two lines "'),
    } == keys("a.yaml", YAML)


def test_toml() -> None:
    """TOML: tables, lists of tables, inline tables and dates."""
    assert {
        "x": (1, "integer", "1"),
        "tool": (2, "mapping", ""),
        "tool.a": (2, "mapping", ""),
        "tool.a.b": (3, "list of string or integer", ""),
        "tool.a.quoted.key": (4, "mapping", ""),
        "tool.a.quoted.key.m": (4, "integer", "1"),
        "tool.list": (5, "list of mapping", ""),
        "tool.list[].name": (6, "string", '"q"'),
        "tool.list[].day": (7, "date", "2020-01-01"),
    } == keys("a.toml", TOML)


def test_json() -> None:
    """JSON: nested keys, lists of lists, comments and escapes."""
    assert {
        "a": (1, "mapping", ""),
        "a.b": (1, "list of integer or mapping", ""),
        "a.b[].c": (1, "null", "null"),
        "a.d": (2, "string", '"e\\u0301"'),
        "f": (3, "float", "-1.5e3"),
        "g": (3, "list", ""),
        "h": (3, "list of list", ""),
    } == keys("a.json", JSON)


def dotted(value: object, at: str = "") -> set[str]:
    """Every key of nested dictionaries and lists, as the index writes them."""
    if isinstance(value, list):
        return {key for inner in value for key in dotted(inner, f"{at}[]")}
    if not isinstance(value, dict):
        return set()
    names = {f"{at}.{name}" if at else str(name): inner for name, inner in value.items()}
    return names.keys() | {key for name, inner in names.items() for key in dotted(inner, name)}


def test_own_project_file() -> None:
    """The keys of a real TOML file are those that `tomllib` sees, each on the line where it stands."""
    text = (ROOT / "pyproject.toml").read_text()
    found = keys("pyproject.toml", text)
    assert dotted(tomllib.loads(text)) == found.keys()
    lines = text.splitlines()
    assert all(name.rpartition(".")[2].strip("[]") in lines[line - 1] for name, (line, *_) in found.items())


def test_same_in_json_and_yaml() -> None:
    """JSON is YAML: both readers find the same keys and lines in it, and those are the parsers'."""
    text = json.dumps({"a": [{"b": 1, "c": {"d": [], "e.f": None}}, 2], "g": "h"}, indent=2)
    assert dotted(json.loads(text)) == keys("a.json", text).keys() == keys("a.yaml", text).keys()
    assert dotted(yaml.safe_load(text)) == keys("a.yaml", text).keys()
    assert keys("a.json", text) == keys("a.yaml", text)


BROKEN: Final = {
    "a.json": '{"a": 1, "b": [}',
    "b.json": '{"a"}}',
    "c.json": "[{" * 100_000,
    "a.yaml": "a: {b: 1\nc: - x",
    "b.yaml": "[" * 100_000,
    "c.yaml": "a: \x01",
    "a.toml": "a = \nb = 1",
    "b.toml": "a = " + "[" * 5_000,
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken(name: str) -> None:
    """A broken file gives a problem, and the keys before it where its reader goes from top to bottom."""
    facts = index_file(name, BROKEN[name].encode())
    assert 1 == len(facts.problems)
    if name in ("a.json", "a.yaml"):
        assert ["a", "b"] == [each.name.rpartition(".")[2] for each in facts.constants]


def test_long_and_wide() -> None:
    """A file of data is not read for keys, and of many keys only the first are kept; both are said."""
    data: FileFacts = index_file("a.json", b'{"a": "' + b"x" * 600_000 + b'"}')
    wide = index_file("a.json", json.dumps({f"k{number}": number for number in range(3_000)}).encode())
    assert ((), 2_000) == (data.constants, len(wide.constants))
    assert [1, 1] == [len(data.problems), len(wide.problems)]

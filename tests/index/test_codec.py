"""Facts survive being kept as text, and text of another shape is told from them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import forwardbook
from forwardbook.analyzers.index import codec
from forwardbook.analyzers.index.facts import FileFacts, Launch
from forwardbook.analyzers.index.one_file import index_file

FILES = sorted((Path(forwardbook.__file__).parent / "analyzers/index").glob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_round_trip(path: Path) -> None:
    """What was encoded decodes to the same facts, from one line of ASCII."""
    facts = index_file(f"index/{path.name}", path.read_bytes(), "index")
    text = codec.encoded(facts)
    assert facts == codec.decoded(text)
    assert text.isascii() and "\n" not in text


def test_names() -> None:
    """For people the fields have their names."""
    named = json.loads(json.dumps(codec.named(index_file("a.py", b"def f(x: int): g(x)", "a"))))
    assert {"name": "x", "kind": "", "annotation": "int", "default": ""} == named["definitions"][0][
        "parameters"
    ][0]
    assert {"start": 1, "end": 1} == named["definitions"][0]["span"]


def test_shape() -> None:
    """The fingerprint names every field, so that rows of an older shape are not taken for these."""
    assert all(name in codec.fingerprint() for name in (*FileFacts.__slots__, *Launch.__slots__))


def test_foreign_values() -> None:
    """What is no fact is refused when encoded, and text that is none when decoded."""
    with pytest.raises(TypeError, match="no kind of fact"):
        codec.encoded({1})  # type: ignore[arg-type]
    for text in ("", "[", "[1]", "{}", "null"):
        with pytest.raises((ValueError, TypeError, IndexError, KeyError)):
            codec.decoded(text)

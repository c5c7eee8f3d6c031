"""Words of the command line as overrides: what each says, and which are refused."""

from pathlib import Path

import pytest

from forwardbook.configuration.composition import compose
from forwardbook.configuration.overrides import ConfigurationError, is_override, parsed

SAID = [
    ("a.b=1", ("change", "a.b", None, 1)),
    ("+a.b=x", ("add", "a.b", None, "x")),
    ("++a={b: 2}", ("force", "a", None, {"b": 2})),
    ("~a.b", ("delete", "a.b", None, None)),
    ("db@here.there=x", ("change", "db", "here.there", "x")),
    ("profiling=off", ("change", "profiling", None, "off")),
    ("a=no", ("change", "a", None, "no")),
    ("a=true", ("change", "a", None, True)),
    ("a=1e3", ("change", "a", None, 1000.0)),
    ("a=2026-01-01", ("change", "a", None, "2026-01-01")),
    ("a='1,2'", ("change", "a", None, "1,2")),
    ("a=[1,two]", ("change", "a", None, [1, "two"])),
    ("a=", ("change", "a", None, "")),
    ("a=x=y", ("change", "a", None, "x=y")),
    ("a=null", ("change", "a", None, None)),
]
REFUSED = {
    "a b=1": "is no override",
    "+a": "has no value",
    "a=1,2": "several values",
    "a=[1": "no YAML",
    "a={b:1}": "space after each colon",
    "a={b: 1, b: 2}": "twice",
}


@pytest.mark.parametrize(("text", "expected"), SAID, ids=[text for text, _ in SAID])
def test_said(text: str, expected: tuple[object, ...]) -> None:
    """An override is an action, a key, a package and a value of YAML without its surprises."""
    (one,) = parsed([text])

    assert expected == (one.action, one.key, one.package, one.value)


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text: str) -> None:
    """What is no override, or a sweep, is refused with the reason."""
    with pytest.raises(ConfigurationError, match=REFUSED[text]):
        parsed([text])


def test_refused_together() -> None:
    """All wrong overrides are told at once."""
    with pytest.raises(ConfigurationError) as refused:
        parsed(["+a", "fine=1", "b=[1"])

    assert [True, True, False] == [word in str(refused.value) for word in ("+a", "b=[1", "fine")]


@pytest.mark.parametrize(
    ("word", "expected"),
    [("gpt2", False), ("a.b=1", True), ("~x", True), ("./dir/x", False), ("+a=1", True), ("+a", False)],
)
def test_is_override(word: str, expected: bool) -> None:
    """Names of models and folders are no overrides."""
    assert expected == is_override(word)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["~a.b", "~a.b"], "no key a.b"),
        (["++a=[1]"], r"\+\+a=\[1\]: Cannot merge"),
        (["a.c.d=1"], "no key a.c.d"),
        (["+l=5"], "write l=5 to change it"),
    ],
)
def test_changes_that_cannot_be_made(words: list[str], said: str, tmp_path: Path) -> None:
    """A key that is gone, and a value that does not fit, are told without a traceback."""
    (tmp_path / "config.yaml").write_text("a: {b: 1, c: 2}\nl: [1]\n")

    with pytest.raises(ConfigurationError, match=said):
        compose([tmp_path], overrides=words)


def test_a_circle(tmp_path: Path) -> None:
    """A defaults list that leads back to its own file is refused with the way round."""
    for name, other in (("x", "y"), ("y", "x")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "one.yaml").write_text(f"defaults:\n  - /{other}/one\n")
    (tmp_path / "config.yaml").write_text("defaults:\n  - x: one\n")

    with pytest.raises(ConfigurationError, match="leads back to its own file: .*config.*x.*y.*x"):
        compose([tmp_path])

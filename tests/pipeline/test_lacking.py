"""Where every model of a unit wants a package that is not installed, that is the reason of its classes."""

from __future__ import annotations

from pathlib import Path

import pytest

from forwardbook.pipeline.catalogue.lacking import wanted_package, with_packages
from forwardbook.pipeline.catalogue.record import ClassResult, WayResult

NATTEN = """
def requires(name):
    raise ImportError(f"DinatModel requires the natten library but it was not found in your environment.")
requires("natten")
"""


def lacked(tmp_path: Path, code: str) -> str:
    """The package that a module asks for when it runs."""
    file = tmp_path / "module.py"
    file.write_text(code)
    with pytest.raises((ImportError, ValueError)) as caught:
        exec(compile(code, str(file), "exec"), {})
    return wanted_package(caught.value)


def way(name: str, lacks: str, kind: str = "constructor") -> WayResult:
    """A way through a model."""
    return WayResult(name=name, model_type=name.lower(), kind=kind, reason="ImportError", lacks=lacks)


def said(*ways: WayResult, kind: str = "constructor") -> tuple[str, str]:
    """Kind and reason of a part that failed in its own way."""
    part = ClassResult(name="x.Stage", state="unreached", kind=kind, reason="TypeError: no float")
    found = with_packages({part.name: part}, ways)[part.name]
    return found.kind, found.reason


def test_a_part_is_told_with_the_package_of_its_models() -> None:
    """It was built by itself, with what its model never gives it."""
    by_itself = WayResult(name="Stage by itself", kind="constructor", reason="TypeError: no float")

    assert ("needs", "its models want a package that is not installed: natten") == said(
        way("DinatModel", "natten"), way("DinatBackbone", "natten"), by_itself
    )


def test_packages_are_told_together() -> None:
    """One model wants another than the next."""
    wanted = way("Other", "detectron2")

    assert said(way("DinatModel", "natten"), wanted)[1].endswith("installed: detectron2 and natten")


@pytest.mark.parametrize(
    "ways",
    [
        (),
        (way("DinatModel", "natten"), way("Other", "", "")),
        (way("DinatModel", ""),),
    ],
)
def test_a_part_keeps_its_reason_where_a_model_wants_none(ways: tuple[WayResult, ...]) -> None:
    """A model was built, or failed otherwise; or there is no model."""
    assert ("constructor", "TypeError: no float") == said(*ways)


def test_an_exception_stays() -> None:
    """Its reason was written down by hand."""
    assert "TypeError: no float" == said(way("DinatModel", "natten"), kind="exception")[1]


@pytest.mark.parametrize(
    ("code", "package"),
    [
        (NATTEN, "natten"),
        ("import detectron9.modeling", "detectron9"),
        ("raise ValueError('it requires the right size')", ""),
        ("raise ImportError('it requires the ' + 'sec' + 'ret' + ' library')", ""),
    ],
    ids=["a message", "an import", "another error", "a name that is written nowhere"],
)
def test_a_package_is_one_that_the_code_names(tmp_path: Path, code: str, package: str) -> None:
    """What the text of an exception alone has is no name of a package."""
    assert package == lacked(tmp_path, code)

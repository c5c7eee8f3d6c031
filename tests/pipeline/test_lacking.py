"""Where every model of a unit wants a package that is not installed, that is the reason of its classes."""

from __future__ import annotations

import pytest

from forwardbook.pipeline.catalogue.lacking import with_packages
from forwardbook.pipeline.catalogue.record import ClassResult, WayResult

NATTEN = "ImportError: DinatModel requires the natten library but it was not found in your environment."


def way(name: str, reason: str, kind: str = "constructor") -> WayResult:
    """A way through a model."""
    return WayResult(name=name, model_type=name.lower(), kind=kind, reason=reason)


def said(*ways: WayResult, kind: str = "constructor") -> tuple[str, str]:
    """Kind and reason of a part that failed in its own way."""
    part = ClassResult(name="x.Stage", state="unreached", kind=kind, reason="TypeError: no float")
    found = with_packages({part.name: part}, ways)[part.name]
    return found.kind, found.reason


def test_a_part_is_told_with_the_package_of_its_models() -> None:
    """It was built by itself, with what its model never gives it."""
    by_itself = WayResult(name="Stage by itself", kind="constructor", reason="TypeError: no float")

    assert ("needs", "its models want a package that is not installed: natten") == said(
        way("DinatModel", NATTEN), way("DinatBackbone", NATTEN), by_itself
    )


def test_packages_are_told_together() -> None:
    """One model wants another than the next."""
    wanted = way("Other", "ModuleNotFoundError: No module named 'detectron2.modeling'")

    assert said(way("DinatModel", NATTEN), wanted)[1].endswith("installed: detectron2 and natten")


@pytest.mark.parametrize(
    "ways",
    [
        (),
        (way("DinatModel", NATTEN), way("Other", "", "")),
        (way("DinatModel", "ValueError: the model requires the right size"),),
    ],
)
def test_a_part_keeps_its_reason_where_a_model_wants_none(ways: tuple[WayResult, ...]) -> None:
    """A model was built, or failed otherwise; or there is no model."""
    assert ("constructor", "TypeError: no float") == said(*ways)


def test_an_exception_stays() -> None:
    """Its reason was written down by hand."""
    assert "TypeError: no float" == said(way("DinatModel", NATTEN), kind="exception")[1]

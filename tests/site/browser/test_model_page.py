"""The page of a model says what the command says: totals and least times, for every shipped model."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from forwardbook.book.site.data import Calculator, Roofline
from forwardbook.book.site.model_page import PHASES, model_page
from forwardbook.book.site.model_subject import WIDTHS, ModelSubject
from forwardbook.models.analysis import Analysis
from forwardbook.pipeline.model.analysis import Request, analyse, checked, made_for
from forwardbook.pipeline.site.assets import device_table
from forwardbook.profiling.peaks import devices
from forwardbook.workspace.model_files import ModelFiles

if TYPE_CHECKING:
    from tests.site.browser.engine import Scripts

FILES = ModelFiles(Path("nowhere"))
IDS = FILES.ids()


@cache
def subject(model_id: str) -> ModelSubject:
    """What the page of a shipped model is made of."""
    architecture = FILES.find(model_id)
    assert architecture is not None
    return ModelSubject(next(FILES.costs(model_id)), None, tuple(devices()), positions=made_for(architecture))


@cache
def page(model_id: str) -> str:
    """Its Markdown."""
    return model_page(subject(model_id)).markdown()


def commands(model_id: str) -> Iterator[tuple[str, Analysis]]:
    """For each phase of the page what the command says at the same sizes, on every device."""
    for phase in PHASES:
        point = subject(model_id).point(phase)
        if point is not None:
            names = tuple(device.id for device in devices())
            request = Request(model_id, point[1], phase=phase, devices=names)  # type: ignore[arg-type]
            yield phase, analyse(checked(request, FILES))


def rows(text: str, heading: str) -> list[list[str]]:
    """The cells of the table under a heading."""
    part = text.partition(f"{heading}\n")[2].partition("\n#")[0]
    return [
        [cell.strip() for cell in row.strip("|").split("|")]
        for row in re.findall(r"^\|.*\|$", part, re.M)[2:]
    ]


@pytest.mark.parametrize("model_id", IDS)
def test_the_page_has_the_times_and_totals_of_the_command(model_id: str) -> None:
    """On every device, to the last digit shown; all eight quantities as integers."""
    for phase, told in commands(model_id):
        [analysed] = told.phases
        times = told.times(analysed)
        expected = [
            [f"{one.eager * 1e3:,.3f}", one.bound, f"{one.fused * 1e3:,.3f}", one.fused_bound]
            for one in (times[device.id][0] for device in told.devices)
        ]
        name = phase.capitalize()
        assert expected == [row[2:] for row in rows(page(model_id), f"### {name}: least time on each device")]
        totals = {row[0].strip("*"): row[1] for row in rows(page(model_id), f"## {name}")}
        assert {q: f"{value:,}" for q, value in analysed.totals.total.whole().items()} == totals


@pytest.mark.parametrize("model_id", IDS)
def test_the_page_says_what_the_command_says_of_too_many_positions(model_id: str) -> None:
    """A call of more positions than the model was made for is told as such, and no other is."""
    for phase, told in commands(model_id):
        noted = [note for note in told.notes if "that the model was made for" in note]
        part = page(model_id).partition(f"## {phase.capitalize()}\n")[2].partition("\n### ")[0]
        assert noted == [one.replace(",", "") for one in re.findall(r"Note: (.*made for)\.", part)]


@pytest.mark.parametrize("model_id", ["llama-2-7b", "gpt2", "t5-base", "mamba-2.8b", "mixtral-8x7b"])
def test_the_browser_has_the_times_of_the_command(model_id: str, scripts: Scripts) -> None:
    """The calculator's parts, and the points of the roofline, take together what the command says."""
    fences = dict(re.findall(r"^```(fb-calc|fb-roofline)\n(.*?)\n```$", page(model_id), re.M | re.S))
    calculator = Calculator.model_validate_json(fences["fb-calc"])
    roofline = Roofline.model_validate_json(fences["fb-roofline"])
    table = json.loads(device_table().as_json())
    for phase, told in commands(model_id):
        [analysed] = told.phases
        times = [told.times(analysed)[device.id][0] for device in told.devices]
        sizes = {**analysed.totals.sizes, **{name: int(one) for name, one in WIDTHS.in_bytes().items()}}
        case = {
            "table": table, "bits": 16,
            "regimes": [r.model_dump(mode="json") for r in calculator.regimes if r.name.startswith(phase)],
            "sizes": {name: str(value) for name, value in sizes.items()},
        }  # fmt: skip
        [live] = scripts.each("callTimes", [case])
        point = next(one for one in roofline.points if one.name == phase)
        [drawn] = scripts.each(
            "pointTimes", [{"table": table, "bits": 16, "point": point.model_dump(mode="json")}]
        )
        for time, (seconds, bound), other in zip(times, live, drawn, strict=True):
            assert time.eager == pytest.approx(seconds, rel=1e-9)
            assert time.bound == bound
            assert time.eager == pytest.approx(other[0], rel=1e-9)

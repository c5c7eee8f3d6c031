"""The calculator on the page of a class has the least times that the command prints for its layer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from forwardbook.book.site.module_calculator import module_calculator
from forwardbook.book.site.module_subject import ModuleSubject
from forwardbook.book.site.parts import Callees
from forwardbook.models.roofline import timings
from forwardbook.models.totals import Widths, evaluate, holding
from forwardbook.pipeline.site.assets import device_table
from forwardbook.pipeline.site.beneath import Beneath
from forwardbook.profiling.peaks import devices
from forwardbook.workspace import Workspace
from forwardbook.workspace.model_files import ModelFiles

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.site.browser.conftest import Reader, Scripts

CALL = {"batch_size": 1, "kv_len": 2048}


@pytest.mark.parametrize("name", ["LlamaMLP", "LlamaAttention", "LlamaDecoderLayer", "LlamaModel"])
def test_the_browser_has_the_time_of_the_layer(name: str, scripts: Scripts) -> None:
    """A decode of Llama 2 7B on every device, of the calculator that the page holds."""
    database = Workspace(Path(__file__).resolve().parents[3]).load()
    key = f"transformers_{name}"
    entry = database.resolved(key)[1]
    data = module_calculator(ModuleSubject(key, entry, entry, callees=Callees(Beneath(database).entry)))
    files, table = ModelFiles(Path("nowhere")), json.loads(device_table().as_json())
    totals = evaluate(
        holding(next(files.costs("llama-2-7b")).phases, "decode", CALL, Widths()), CALL, Widths()
    )
    place = next(n for n, row in enumerate(totals.rows) if row.class_name == entry.full_class_name)
    layer = next(files.populated("llama-2-7b")).at(totals.rows[place].name)
    assert layer is not None
    known = {each: one.value for each, one in layer.parameters.items() if type(one.value) is int}
    regimes = [one for one in data.regimes if one.name.startswith("decode")]
    sizes = {**known, **dict.fromkeys(data.bits, 2), **CALL}
    needed = {each for one in regimes for each in one.parameters}
    case = {
        "table": table, "bits": 16,
        "regimes": [one.model_dump(mode="json") for one in regimes],
        "sizes": {each: str(size) for each, size in sizes.items() if each in needed},
    }  # fmt: skip
    [found] = scripts.each("callTimes", [case])

    assert all(one.together == 0 for one in regimes)
    for device, (seconds, _) in zip(devices(), found, strict=True):
        assert seconds == pytest.approx(timings(totals, device)[place].eager, rel=1e-9)


def test_a_page_says_which_lines_are_taken_together(read: Callable[..., Reader]) -> None:
    """The MLP of the small site calls an activation that is not in it; its attention calls what is in it."""
    page = read().open("book/modules/transformers_LlamaMLP.html")
    page.locator(".fb-point").first.wait_for()

    assert "1 line that calls modules is taken as one layer" in page.inner_text(".fb-legend")
    assert "at least as long" in page.inner_text(".fb-legend")
    page = read().open("book/modules/transformers_LlamaAttention.html")
    page.locator(".fb-point").first.wait_for()
    assert "as one layer" not in page.inner_text(".fb-legend")

"""A class that the model of its name builds and does not call is called as the catalogue calls it."""

from __future__ import annotations

import inspect

import pytest
from transformers.models.qwen2_vl.modeling_qwen2_vl import VisionMlp

from forwardbook.analyzers.instances.recipe import NoRecipe
from forwardbook.formula import parse
from forwardbook.pipeline.child import work as work_file
from forwardbook.pipeline.child.request import Request
from forwardbook.pipeline.child.work import work
from forwardbook.schema import Entry

TARGET = f"{VisionMlp.__module__}.VisionMlp"
REQUEST = Request(
    target=TARGET, file=inspect.getfile(VisionMlp), derive="symbolic", explore=False, seed=1, points=2
)


def test_a_tower_that_text_alone_leaves_out_is_called_by_itself() -> None:
    """Two products of every patch: 2 * rows * width * wider, twice, by hand."""
    response = work(REQUEST)

    assert response.entry is not None, response.problem
    [regime, *_] = Entry.model_validate(response.entry).regimes
    sizes = {"grid_height": 6, "grid_width": 10, "embed_dim": 32, "mlp_ratio": 4}
    assert parse(regime.flop_analysis.flops).evaluate(sizes) == 2 * (2 * 60 * 32 * 128)


def test_what_nothing_calls_is_refused_with_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where models run and none calls the class, that is said."""
    monkeypatch.setattr(work_file, "recipes_for", lambda *_: [])
    monkeypatch.setattr(work_file, "_of_catalogue", lambda _: iter(()))

    with pytest.raises(NoRecipe, match=r"VisionMlp to run: no model that holds it comes to call it"):
        work(REQUEST)

"""Fields of a model's config with other values: what lists its layers follows their number."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import JsonValue

from forwardbook.pipeline.model.find import changed, find_model
from forwardbook.workspace.model_files import ModelFiles

SLIDING, FULL = "sliding_attention", "full_attention"


def kinds(model: str, fields: dict[str, JsonValue], folder: Path) -> JsonValue:
    """The kinds of layers of a shipped model with other values."""
    return changed(find_model(model, ModelFiles(folder)), fields).config["layer_types"]


@pytest.mark.parametrize(
    ("model", "layers", "expected"),
    [
        ("qwen2.5-7b", 2, [FULL] * 2),
        ("gemma-2-9b", 3, [SLIDING, FULL, SLIDING]),
        ("gemma-2-9b", 44, [SLIDING, FULL] * 22),
    ],
)
def test_kinds_of_layers_follow_their_number(
    model: str, layers: int, expected: list[str], tmp_path: Path
) -> None:
    """Fewer are the first ones, more go on as they went."""
    assert expected == kinds(model, {"num_hidden_layers": layers}, tmp_path)


def test_kinds_that_were_given_stay(tmp_path: Path) -> None:
    """Who lists layers has them so."""
    fields: dict[str, JsonValue] = {"layer_types": [FULL, FULL], "num_hidden_layers": 2}

    assert [FULL, FULL] == kinds("gemma-2-9b", fields, tmp_path)

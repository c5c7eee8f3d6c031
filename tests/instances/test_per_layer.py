"""Sizes that single layers have are asked for by the type of the layers."""

from __future__ import annotations

import pytest

pytest.importorskip("transformers")
from transformers import Gemma4TextConfig

from forwardbook.analyzers.instances.pretrained.configs import ask_sizes
from forwardbook.analyzers.instances.pretrained.depth import cut_depth


def _asked(config: Gemma4TextConfig, answers: dict[str, int]) -> dict[str, int]:
    found: dict[str, int] = {}

    def sizes(name: str, hint: int, meaning: str = "", source: str = "") -> int:
        found[name] = hint
        return answers.get(name, hint)

    ask_sizes(config, sizes)
    return found


def test_a_size_that_layers_of_one_type_have_is_named_by_the_type() -> None:
    asked = _asked(Gemma4TextConfig(global_head_dim=128, head_dim=64), {})
    assert (asked["head_dim"], asked["full_attention.head_dim"]) == (64, 128)


def test_layers_get_the_answer() -> None:
    config = Gemma4TextConfig(global_head_dim=128, head_dim=64)
    _asked(config, {"full_attention.head_dim": 96})
    kinds = zip(config.layer_types, config.per_layer_config, strict=True)
    assert {kind: layer.head_dim for kind, layer in kinds} == {"full_attention": 96, "sliding_attention": 64}


def test_layers_of_one_type_that_differ_are_named_by_their_index() -> None:
    config = Gemma4TextConfig(num_hidden_layers=6, per_layer_config={0: {"head_dim": 32}})
    assert _asked(config, {})["layers.0.head_dim"] == 32


def test_layers_that_were_cut_are_not_asked_about() -> None:
    config = Gemma4TextConfig(num_hidden_layers=12, global_head_dim=128, head_dim=64)
    cut_depth(config)
    assert "full_attention.head_dim" in (asked := _asked(config, {}))
    assert not any(name.startswith("layers.") for name in asked)

"""How many labels a classifier tells apart is a size, though its config keeps only a mapping of them."""

from __future__ import annotations

import pytest

pytest.importorskip("transformers")
import torch
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from transformers import AutoModelForImageClassification, PreTrainedConfig, ViTConfig

from forwardbook.analyzers.instances.pretrained.configs import ask_sizes
from forwardbook.analyzers.instances.pretrained.strict import accept_symbolic_sizes
from forwardbook.analyzers.symbolic.bridges import no_initialisation
from forwardbook.analyzers.symbolic.kernels import native_shapes


def _asked(config: PreTrainedConfig, answers: dict[str, int]) -> dict[str, int]:
    """The sizes that are asked for, with their hints; those with an answer get it."""
    found: dict[str, int] = {}

    def sizes(name: str, hint: int, meaning: str = "", source: str = "") -> int:
        found[name] = hint
        return answers.get(name, hint)

    ask_sizes(config, sizes)
    return found


@pytest.fixture
def symbol() -> torch.SymInt:
    from torch._dynamo.source import ConstantSource

    accept_symbolic_sizes()
    native_shapes()  # as any run before in the same process leaves torch
    shapes = ShapeEnv()
    made = shapes.create_symbol(7, ConstantSource("labels"))
    return shapes.create_symintnode(made, hint=7)


def test_the_hint_is_the_length_of_the_mapping() -> None:
    assert _asked(ViTConfig(num_labels=5), {})["num_labels"] == 5


def test_a_drawn_number_is_set_as_anybody_would_set_it() -> None:
    config = ViTConfig()
    _asked(config, {"num_labels": 11})
    assert type(config) is ViTConfig
    assert len(config.id2label) == 11


def test_millions_of_labels_are_told_and_get_no_names() -> None:
    """A draw beyond a threshold on labels filled three gigabytes with `LABEL_0` and so on."""
    config = ViTConfig()
    _asked(config, {"num_labels": 10**12})

    assert 10**12 == config.num_labels
    assert 10 > len(config.id2label) == len(config.label2id)


def test_a_symbolic_number_is_what_the_config_tells(symbol: torch.SymInt) -> None:
    config = ViTConfig()
    _asked(config, {"num_labels": symbol})
    assert config.num_labels is symbol
    assert len(ViTConfig().id2label) == ViTConfig().num_labels == 2


def test_a_config_of_symbolic_labels_is_still_one_of_its_class(symbol: torch.SymInt) -> None:
    config = ViTConfig(num_hidden_layers=1)
    _asked(config, {"num_labels": symbol})
    assert isinstance(config, ViTConfig)
    assert config.to_dict()["model_type"] == "vit"


def test_the_head_of_a_model_is_as_wide_as_the_symbol(symbol: torch.SymInt) -> None:
    config = ViTConfig(num_hidden_layers=1)
    _asked(config, {"num_labels": symbol})
    with torch.device("meta"), no_initialisation():
        model = AutoModelForImageClassification.from_config(config)
    assert model.classifier.out_features is symbol


def test_one_label_is_no_size() -> None:
    assert "num_labels" not in _asked(ViTConfig(num_labels=1), {})

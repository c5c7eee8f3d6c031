"""Sizes that a model computes for want of a field become fields, and nothing else does."""

from __future__ import annotations

from functools import partial

import pytest
import torch
import transformers

from forwardbook.analyzers.instances.pretrained.configs import copied, make_config
from forwardbook.analyzers.instances.pretrained.models import instantiate
from forwardbook.analyzers.instances.pretrained.unstated import stated
from forwardbook.analyzers.instances.recipe import InstanceOptions


def _stated(name: str) -> dict[str, object]:
    """What the config of a model has more than before."""
    model_class = getattr(transformers, name)
    config = make_config(model_class.config_class, InstanceOptions())
    with torch.device("meta"):
        model = instantiate(model_class, copied(config))
        full = stated(config, model, partial(instantiate, model_class))
    return {name: value for name, value in vars(full).items() if vars(config).get(name) != value}


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("MixtralModel", {"head_dim": 4096 // 32}),  # a field that is None
        ("Qwen3MoeModel", {"head_dim": 2048 // 32}),  # read with getattr, declared nowhere
        ("LlamaModel", {}),  # its config fills head_dim itself
        ("GPT2Model", {}),  # n_inner is kept under no name
        ("BertModel", {}),  # attention_head_size is computed whatever the config says
    ],
)
def test_sizes_the_model_fills_in(name: str, found: dict[str, object]) -> None:
    """Only what the model takes over from its config is stated, with the number that it computed."""
    assert found == _stated(name)

"""What formulas take for granted of a build, in words: fields that are None, the labels of a head."""

from __future__ import annotations

import pytest

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.pipeline.derivation.assumptions import labels_said, left_out

pytest.importorskip("transformers")
VIT = "transformers.models.vit.modeling_vit"


def _recipe(target: str) -> Recipe:
    from transformers import ViTConfig, ViTForImageClassification

    config = ViTConfig(num_hidden_layers=1, num_labels=5)
    return Recipe(
        target,
        "transformers",
        lambda sizes: ViTForImageClassification(config),
        lambda sizes, module, maker: ((), {}),
    )


def test_a_classifier_says_how_many_labels_its_head_has() -> None:
    name = f"{VIT}.ViTForImageClassification"
    assert labels_said(5) in left_out(_recipe(name), [name])


def test_a_class_that_reads_no_labels_says_nothing_of_them() -> None:
    name = f"{VIT}.ViTSelfAttention"
    assert not any("labels" in one for one in left_out(_recipe(name), [name]))

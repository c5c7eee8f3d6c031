"""Parameters of layers: the priority of their origins, and layers found by their full names."""

from __future__ import annotations

import pytest

from forwardbook.models.populate import Known, value_of
from forwardbook.models.populated import Populated, PopulatedLayer, first_of
from forwardbook.schema import Parameter

KNOWN = Known(
    configs=(
        {"hidden_size": 64, "num_attention_heads": 4, "head_dim": None, "num_heads": [2, 5], "flag": True},
    ),
    attributes={"in_features": 32, "kernel_size": (3, 7), "hidden_size": 9, "normalized_shape": (11,)},
    defaults={"dilation": 1, "in_features": 5},
)


@pytest.mark.parametrize(
    ("name", "source", "value", "origin"),
    [
        ("batch_size", "forward", "{batch_size}", "runtime"),
        ("height", "Conv2d.forward", "{height}", "runtime"),
        ("w_dtype_bytes", "number format", "{w_dtype_bytes}", "runtime"),
        ("kv_len", "past_key_values", "{kv_len}", "runtime"),
        ("hidden_size", "config.hidden_size", 64, "config"),
        ("num_heads.1", "config.num_heads[1]", 5, "config"),
        ("head_dim", "config.head_dim", 16, "derived"),
        ("num_key_value_heads", "config.num_key_value_heads", 4, "derived"),
        ("in_features", "Linear.__init__", 32, "structure"),
        ("kernel_size_1", "Conv2d.__init__", 7, "structure"),
        ("normalized_shape_0", "LayerNorm.__init__", 11, "structure"),
        ("hidden_size", "Norm.__init__", 9, "structure"),
        ("dilation", "Conv2d.__init__", 1, "default"),
    ],
)
def test_each_value_says_where_it_is_from(name: str, source: str, value: int | str, origin: str) -> None:
    """Runtime before config before derived before structure before default."""
    found = value_of(Parameter(name=name, source=source), KNOWN)

    assert found is not None
    assert (value, origin) == (found.value, found.origin)


@pytest.mark.parametrize("name", ["flag", "nothing", "num_heads.7"])
def test_what_nothing_tells_is_missing(name: str) -> None:
    """No number is made up; booleans are no sizes."""
    assert value_of(Parameter(name=name, source=f"config.{name}"), KNOWN) is None


def layer(name: str, *parts: PopulatedLayer) -> PopulatedLayer:
    return PopulatedLayer(
        name=name, class_name=f"toy.{name}", repeat=1, kind="basic", parameter_count=0, sub_layers=list(parts)
    )


def test_layers_are_found_by_the_names_of_calls() -> None:
    """Ranges of siblings stand for their first; other groupings of the same layers are found too."""
    mlp, other = layer("mlp"), layer("mlp.odd")
    tree = layer("", layer("model", layer("layers.0-2,5", mlp), layer("layers.3-4", other)), layer("head"))
    whole = Populated(
        model_id="toy",
        model_class="toy.Model",
        config_class="",
        config={},
        config_digest="",
        runtime=[],
        layers=[tree],
    )

    assert tree is whole.at("")
    assert mlp is whole.at("model.layers.0-2,5.mlp")
    assert mlp is whole.at("model.layers.5.mlp")
    assert other is whole.at("model.layers.3.mlp.odd")
    assert whole.at("model.layers.6.mlp") is None
    assert "layers.0.q_proj" == first_of("layers.0-31.q_proj,k_proj")

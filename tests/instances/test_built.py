"""Classes of torch.nn that a person wants built otherwise: every argument of the constructor can be given."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from forwardbook.analyzers.instances.draw import ChosenSizes
from forwardbook.analyzers.instances.recipe import InstanceOptions, NoRecipe, Recipe
from forwardbook.analyzers.instances.recipes import recipes_for
from forwardbook.analyzers.instances.tensors import PlainMaker


def recipes(name: str, **given: object) -> list[Recipe]:
    options = InstanceOptions(init={key: str(value) for key, value in given.items()})
    return recipes_for(f"torch.nn.{name}", options)


def built(recipe: Recipe) -> nn.Module:
    return recipe.build(ChosenSizes())


def called(recipe: Recipe) -> object:
    """What the module gives of inputs at the hints."""
    chosen = ChosenSizes()
    with torch.no_grad():
        module = recipe.build(chosen).eval()
        args, kwargs = recipe.inputs(chosen, module, PlainMaker("cpu"))
        return module(*args, **kwargs)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("Conv2d", {"bias": False}),
        ("Conv1d", {"padding_mode": "reflect"}),
        ("ConvTranspose3d", {"bias": False}),
        ("LazyConv2d", {"bias": False}),
        ("LayerNorm", {"elementwise_affine": False}),
        ("BatchNorm2d", {"affine": False, "track_running_stats": False}),
        ("MaxPool2d", {"ceil_mode": True, "return_indices": True}),
        ("AvgPool3d", {"count_include_pad": False, "divisor_override": 2}),
        ("Embedding", {"padding_idx": 0}),
        ("MSELoss", {"reduction": "sum"}),
        ("GRU", {"bias": False}),
        ("MultiheadAttention", {"add_zero_attn": True}),
        ("TransformerEncoderLayer", {"norm_first": True, "activation": "gelu"}),
    ],
)
def test_an_argument_that_is_no_size_is_what_the_module_is_built_with(
    name: str, given: dict[str, object]
) -> None:
    """Every recipe runs, its module prints as torch's own built so, and its regimes say the choice."""
    for recipe in recipes(name, **given):
        called(recipe)
        assert given == {key: recipe.choices[key] for key in given}
        module = built(recipe)
        for key, value in given.items():
            if hasattr(module, key) and key not in ("bias", "activation"):
                assert value == getattr(module, key)
        if given.get("bias") is False:
            assert not [each for each, _ in module.named_parameters() if "bias" in each]


def test_a_number_for_all_dimensions_is_each_of_them() -> None:
    """`--init kernel_size=3` is 3 along both, and both stay sizes."""
    [recipe] = recipes("MaxPool2d", kernel_size=3)
    chosen = ChosenSizes()
    assert (3, 3) == vars(recipe.build(chosen))["kernel_size"]
    assert {"kernel_size_0", "kernel_size_1"} <= chosen.hints.keys()


def test_rows_of_modules_built_otherwise_are_left_out() -> None:
    """A convolution with circular padding alone is wanted; the row that pads with it is the only one."""
    assert {"circular"} == {r.choices["padding_mode"] for r in recipes("Conv2d", padding_mode="circular")}
    assert [False] * 2 == [r.choices["bias"] for r in recipes("Linear", bias=False)]


def test_the_batch_is_first_only_where_the_inputs_are_made_so() -> None:
    """With `batch_first=True` the length of the output of 2 layers is that of the input's second side."""
    for recipe in recipes("LSTM", batch_first=True, num_layers=2):
        chosen = ChosenSizes()
        module = recipe.build(chosen)
        (x,), _ = recipe.inputs(chosen, module, PlainMaker("cpu"))
        assert isinstance(x, torch.Tensor)
        assert (chosen.chosen["batch_size"], chosen.chosen["seq_len"]) == x.shape[:2]
        assert (True, 2) == (vars(module)["batch_first"], vars(module)["num_layers"])


def test_conditions_on_a_size_that_is_none_any_more_fall() -> None:
    """Padding 'valid' has no size of a padding, and no condition on it."""
    for recipe in recipes("Conv2d", padding="valid"):
        assert not [text for text in recipe.conditions if "padding" in text]


def test_a_name_that_is_no_argument_is_refused_with_those_there_are() -> None:
    with pytest.raises(NoRecipe, match=r"not bais=False; its other arguments are bias, device, dtype"):
        recipes("Linear", bais=False)

"""What forward() does not call is reached by the method of its model that does."""

from __future__ import annotations

import importlib
import inspect

import pytest
import torch

from forwardbook.analyzers.instances.pretrained.asked import asked, fits
from forwardbook.analyzers.instances.pretrained.inputs import plans
from forwardbook.analyzers.instances.pretrained.mended import built
from forwardbook.analyzers.instances.pretrained.methods import Entry, by_method, entries
from forwardbook.analyzers.instances.pretrained.models import Holder
from forwardbook.analyzers.instances.pretrained.recipes import holder_recipes
from forwardbook.analyzers.instances.pretrained.strict import accept_symbolic_sizes
from forwardbook.analyzers.instances.recipe import InstanceOptions, full_name, hinted
from forwardbook.analyzers.instances.tensors import ShapesAndNumbers
from forwardbook.pipeline.catalogue.derive import names_called

accept_symbolic_sizes()
EMU3 = "transformers.models.emu3.modeling_emu3"
POCKET = "transformers.models.pocket_tts.modeling_pocket_tts"


def entered(module: str, model_name: str, *classes: str) -> list[Entry]:
    """The methods of a model, in its default config, that call classes of its module."""
    holder = Holder(getattr(importlib.import_module(module), model_name), {})
    with torch.device("meta"):
        holder, model = built(holder)
    recipe = holder_recipes(full_name(holder.model_class), holder, InstanceOptions(), "")[0]
    return list(entries(model, recipe, {f"{module}.{name}" for name in classes}))


@pytest.mark.parametrize(
    ("name", "method"), [("Emu3VQVAEEncoder", "encode"), ("Emu3VQVAEDecoder", "decode")]
)
def test_a_tokenizer_of_images_encodes_and_decodes(name: str, method: str) -> None:
    """Emu3Model calls it by methods; a plain run of the method reaches the class that forward() does not."""
    of_tokenizer = [one for one in entered(EMU3, "Emu3Model", name) if one.path == "vqmodel"]

    assert method in {one.method for one in of_tokenizer}
    recipe = next(one.recipe for one in of_tokenizer if one.method == method)
    assert f"{EMU3}.{name}" in names_called(recipe, {})
    assert method == recipe.scenario


def test_sizes_are_those_that_the_docstring_of_the_method_states() -> None:
    """A step of a sampler takes rows of two widths, and how many steps: two is the least that is not one."""
    [one] = entered(POCKET, "PocketTTSForConditionalGeneration", "PocketTTSFlowHead")
    with torch.device("meta"), torch.no_grad():
        model = one.recipe.build(hinted)
        _, given = one.recipe.inputs(hinted, model, ShapesAndNumbers())

    assert one.method == "sample_latent"
    assert given["num_flow_steps"] == 2
    assert [(3, 1024), (3, 32)] == [tuple(given[name].shape) for name in ("condition", "noise")]  # type: ignore[attr-defined]


def test_a_model_by_a_method_tells_its_parameters() -> None:
    """What asks a model for its signature, its docstring or its config is told those of the method."""
    with torch.device("meta"):
        _, model = built(Holder(importlib.import_module(EMU3).Emu3Model, {}))
    tokens = by_method(model, "get_image_tokens")

    assert ["self", "pixel_values", "image_sizes"] == list(inspect.signature(type(tokens).forward).parameters)
    assert tokens.config is model.config
    assert "image_sizes" in (inspect.getdoc(type(tokens).forward) or "")


def test_rows_of_a_table_are_asked_for_by_whole_numbers() -> None:
    """`decode` takes what it calls hidden states, and looks them up: no side of them is a width."""
    with torch.device("meta"):
        _, model = built(Holder(importlib.import_module(EMU3).Emu3Model, {}))
    decode = by_method(model.vqmodel, "decode")

    found = asked(decode, plans(decode))  # type: ignore[arg-type]

    assert {"integers(2, batch_size, grid_height, grid_width)"} == {plan["hidden_states"] for plan in found}
    assert fits(decode, found[0], decode, ShapesAndNumbers())  # type: ignore[arg-type]

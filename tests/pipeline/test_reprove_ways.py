"""What is measured again, and in which order the ways to call it are taken."""

from collections.abc import Callable
from pathlib import Path

import pytest
from torch import nn

from forwardbook.analyzers.instances.recipe import InputMaker, Inputs, Recipe, Sizes
from forwardbook.pipeline.catalogue.copies import whole
from forwardbook.pipeline.reprove.again import drawn, is_fit
from forwardbook.pipeline.reprove.held import Again
from forwardbook.pipeline.reprove.stored_regimes import StoredRegime
from forwardbook.profiling.asked import asked_of
from forwardbook.schema import Entry
from forwardbook.workspace import Workspace

from .reproofs import all_again

Make = Callable[..., Entry]
SHIPPED = Workspace(Path(__file__).resolve().parent.parent.parent).load()


def _recipe(shapes: Callable[[Sizes], tuple[tuple[int, ...], ...]]) -> Recipe:
    """Something called with tensors of such shapes."""

    def inputs(sizes: Sizes, module: nn.Module, maker: InputMaker) -> Inputs:
        return tuple(maker.floats(shape) for shape in shapes(sizes)), {}

    return Recipe("toy.Layer", "toy", lambda sizes: nn.Linear(sizes("width", 6), 2), inputs)


@pytest.mark.parametrize(
    ("shapes", "of_one_size"),
    [
        (lambda n: ((n("rows", 9), 6), (288, 6)), True),
        (lambda n: ((n("rows", 9), 6), (n("rows", 9) * 32, 6)), False),
        (lambda n: ((9, 6), (288, 6)), False),
        (lambda n: ((n("rows", 9), 6), (n("rows", 9), 3, 504, 2016)), True),
        (lambda n: ((n("rows", 9), 6), (n("rows", 9), 3, n("width", 6) * 8, n("width", 6) * 8)), False),
    ],
)
def test_inputs_of_which_one_never_grows_are_told_from_others(
    shapes: Callable[[Sizes], tuple[tuple[int, ...], ...]], of_one_size: bool
) -> None:
    """288 images beside any number of questions, or an image whose sides are no size.

    Where nothing can grow, no size says that it does; sides may be what a model is built with.
    """
    assert of_one_size is asked_of(_recipe(shapes)).is_of_one_size


def test_a_way_that_is_put_off_comes_after_all_others_and_once(make_entry: Make) -> None:
    """What it tells of a regime is heard where no other way told anything."""
    again = Again("torch_Linear", SHIPPED["torch_Linear"])
    first = next(again.recipes)

    assert again.put_off(first)
    rest = list(again.recipes)
    assert rest[-1] == first and rest.count(first) == 1
    assert not again.put_off(first)


def test_sizes_of_a_part_that_was_called_by_itself_are_not_those_of_a_model() -> None:
    """`num_channels` of a norm are those of what it takes, in a config those of images."""
    regime = SHIPPED["torch_Linear"].regimes[0]
    assert regime.proof is not None
    sizes = {"batch_size": 3, "num_channels": 8}
    points = tuple(one.model_copy(update={"sizes": sizes}) for one in regime.proof.points)
    alone = {"name": "Norm alone", "proof": regime.proof.model_copy(update={"points": points})}
    own, below = StoredRegime(regime.model_copy(update=alone)), StoredRegime(regime)

    assert own.is_of_sizes({"batch_size": 3, "num_channels": 8})
    model = ("hidden_size", "image_size", "num_attention_heads")
    assert not own.is_of_sizes(("batch_size", "num_channels", *model))
    assert below.is_of_sizes({"batch_size": 3})


def test_entries_are_drawn_from_the_seed() -> None:
    """The same seed draws the same entries, in their order; a sample of all is all."""
    keys = [f"k{number:02d}" for number in range(40)]

    assert drawn(keys, 5, 7) == drawn(keys[::-1], 5, 7) == sorted(drawn(keys, 5, 7))
    assert drawn(keys, 5, 7) != drawn(keys, 5, 8)
    assert keys == drawn(keys, 100, 7) == drawn(keys, None, 7)
    assert keys[30:] == drawn(keys, 10, 7, lambda key: key >= "k30")


def test_an_entry_without_formulas_is_not_drawn(tmp_path: Path, make_entry: Make) -> None:
    """There is nothing to measure: it would stand for one that has formulas."""
    workspace = Workspace(tmp_path)
    empty = make_entry().model_copy(update={"regimes": ()})
    workspace.save({"torch_Empty": empty}, rules_version=1)

    assert not is_fit("torch_Empty", workspace.load())
    assert is_fit("torch_Linear", SHIPPED)


def test_widths_that_no_format_has_serve_no_entry_that_tells_formats_apart() -> None:
    """Of GroupViT's two ways to cross-attend one is told apart by format: at 5 bytes nothing speaks of it."""
    keys = ("transformers_GroupViTTokenAssign", "transformers_GroupViTCrossAttentionLayer")
    found = all_again([whole(SHIPPED, key) for key in keys])

    assert ["equal", "equal"] == [one.state for one in found]

"""A user's own class is built from what the user gives, or the refusal says what to give."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from forwardbook.analyzers.instances.draw import ChosenSizes
from forwardbook.analyzers.instances.recipe import InstanceOptions, NoRecipe
from forwardbook.analyzers.instances.recipes import recipes_for
from forwardbook.analyzers.instances.tensors import PlainMaker

SOURCE = """
from dataclasses import dataclass
from torch import nn

class Block(nn.Module):
    def __init__(self, dim: int, heads: int = 4, bias: bool = True, kernel=(3, 5)):
        super().__init__()
        self.linear = nn.Linear(dim, dim * heads, bias=bias)
    def forward(self, x, mask=None, *, ids=None):
        return self.linear(x)

@dataclass
class Settings:
    width: int = 3
    name: str = "a"

class Configured(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.linear = nn.Linear(config.width, 2 * config.width)
    def forward(self, x):
        return self.linear(x)

class Typed(Configured):
    def __init__(self, config: Settings):
        super().__init__(config)

class Abstract(nn.Module):
    pass

class Plain:
    pass
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "own_blocks.py").write_text(SOURCE)
    (tmp_path / "own_broken.py").write_text("import nothing_of_that_name\nclass Block: pass\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def run(name: str, options: InstanceOptions) -> tuple[dict[str, int], dict[str, object]]:
    (recipe,) = recipes_for(name, options)
    sizes = ChosenSizes()
    module = recipe.build(sizes)
    args, kwargs = recipe.inputs(sizes, module, PlainMaker())
    module(*args, **kwargs)
    return sizes.chosen, kwargs


def test_constructor_integers_and_dimensions_become_sizes(root: Path) -> None:
    """Given and default integers are sizes under their names, and so are the words of a shape."""
    given = InstanceOptions(init={"dim": "64"}, inputs={"x": "B,S,dim", "ids": "B,S:int64"}, root=root)
    chosen, kwargs = run("own_blocks.Block", given)
    assert chosen == {"dim": 64, "heads": 4, "B": 5, "S": 7}
    assert (kwargs["x"].shape, kwargs["ids"].dtype) == ((5, 7, 64), torch.int64)  # type: ignore[attr-defined]


def test_shapes_may_be_arithmetic_and_constants(root: Path) -> None:
    """Integers in a shape are constants, products of names are allowed, None is None."""
    given = InstanceOptions(init={"dim": "6"}, inputs={"x": "2, 3 * S, dim", "mask": "None"}, root=root)
    chosen, kwargs = run("own_blocks.Block", given)
    assert kwargs["x"].shape == (2, 3 * chosen["S"], 6)  # type: ignore[attr-defined]
    assert kwargs["mask"] is None


def test_tuples_become_one_size_each(root: Path) -> None:
    """A tuple of integers is asked for element by element."""
    given = InstanceOptions(init={"dim": "6", "kernel": "(3, 5)"}, inputs={"x": "B,dim"}, root=root)
    assert run("own_blocks.Block", given)[0]["kernel_1"] == 5


@pytest.mark.parametrize("name", ["Configured", "Typed"])
def test_config_files_feed_config_arguments(root: Path, name: str) -> None:
    """A constructor that takes a config gets the file's fields, its integers as sizes."""
    file = root / "config.json"
    file.write_text(json.dumps({"width": 12, "name": "b"}))
    given = InstanceOptions(config_file=file, inputs={"x": "B,width"}, root=root)
    assert run(f"own_blocks.{name}", given)[0] == {"width": 12, "B": 5}


def test_classes_of_transformers_take_inputs_of_their_own() -> None:
    """With shapes given, the class alone is built from the config of the model that holds it."""
    given = InstanceOptions(inputs={"x": "B,S,hidden_size"})
    (recipe,) = recipes_for("transformers.models.llama.modeling_llama.LlamaMLP", given)
    with torch.device("meta"):
        module = recipe.build(ChosenSizes())
    assert type(module).__name__ == "LlamaMLP"


@pytest.mark.parametrize(
    ("name", "init", "inputs", "message"),
    [
        ("own_blocks.Block", {}, {}, r"no value for dim[\s\S]*needs: dim: int[\s\S]*--init dim=64"),
        ("own_blocks.Block", {"dim": "8"}, {}, r"no value for the input x[\s\S]*x=batch_size,seq_len,dim"),
        ("own_blocks.Block", {"dim": "8", "dims": "8"}, {}, "has no argument dims"),
        ("own_blocks.Block", {"dim": "8"}, {"x": "B,", "y": "B,"}, r"forward\(\) has no input y"),
        ("own_blocks.Configured", {}, {}, r"no value for config[\s\S]*--config file.json"),
        ("own_blocks.Abstract", {}, {}, "abstract"),
        ("own_blocks.Plain", {}, {}, "no torch.nn.Module"),
        ("own_blocks.Gone", {}, {}, "importing own_blocks failed: AttributeError"),
        ("own_broken.Block", {}, {}, "importing own_broken failed: ModuleNotFoundError"),
    ],
)
def test_refusals_say_what_is_needed(
    root: Path, name: str, init: dict[str, str], inputs: dict[str, str], message: str
) -> None:
    """Every missing or unknown piece is named with how to give it."""
    with pytest.raises(NoRecipe, match=message):
        recipes_for(name, InstanceOptions(init=init, inputs=inputs, root=root))


@pytest.mark.parametrize("shape", ["B,)", "B:int7", "B.C", "f(B)", "B,,C", "[4, 4]", "'word"])
def test_values_that_are_none_are_refused(root: Path, shape: str) -> None:
    """What cannot be read names the input."""
    with pytest.raises(NoRecipe, match="--input x"):
        recipes_for("own_blocks.Block", InstanceOptions(init={"dim": "5"}, inputs={"x": shape}, root=root))

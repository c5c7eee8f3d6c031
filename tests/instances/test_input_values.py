"""What is written after `--input` becomes the value that the same words mean in Python, or is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from forwardbook.analyzers.instances.draw import ChosenSizes
from forwardbook.analyzers.instances.parameter_kinds import kinds_of
from forwardbook.analyzers.instances.recipe import InstanceOptions, NoRecipe, Recipe
from forwardbook.analyzers.instances.recipes import recipes_for
from forwardbook.analyzers.instances.shapes import hints_for, make_values, values_of
from forwardbook.analyzers.instances.tensors import PlainMaker

SOURCE = """
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Batch:
    x: torch.Tensor


class Net(nn.Module):
    def __init__(self, dim: int, names: list[str], rate: float):
        super().__init__()

    def forward(self, x: torch.Tensor, start: int, maps: list[torch.Tensor], image, mode: str = "sum"):
        return x[:, start:]


class Records(nn.Module):
    def forward(self, batch: Batch, table: dict):
        return batch.x


class Told(nn.Module):
    def __init__(self, args: "Batch"):
        super().__init__()

    def forward(self, x):
        return x
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "own_nets.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def made(**texts: str) -> dict[str, object]:
    """The values, with a batch of 2, a length of 6 and a start of 3."""
    values = values_of("Net", texts)
    hints = hints_for(values, {"b": 2, "n": 6, "start": 3})
    return make_values(values, hints, ChosenSizes(), PlainMaker())


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("4", 4), ("-1", -1), ("0.5", 0.5), ("1e-5", 1e-5), ("True", True), ("None", None)),
        *(("'mean'", "mean"), ("start", 3), ("n - start", 3), ("2 * n", 12), ("[4; start]", [4, 3])),
        *(("(4; 5)", (4, 5)), ("[]", []), ("(n + 1) * 2", 14), ("[True; [1]]", [True, [1]])),
    ],
)
def test_plain_values_are_those_of_python(text: str, value: object) -> None:
    """Numbers, words, truths, sizes and lists of them."""
    assert value == made(x=text)["x"]


@pytest.mark.parametrize(
    ("text", "shape", "dtype"),
    [
        *(("4,", (4,), torch.float32), ("b,n", (2, 6), torch.float32), ("n:int64", (6,), torch.int64)),
        *((":float32", (), torch.float32), ("b, (n + 1) * 2, 3", (2, 14, 3), torch.float32)),
    ],
)
def test_a_comma_or_a_dtype_makes_a_tensor(text: str, shape: tuple[int, ...], dtype: torch.dtype) -> None:
    """Of the dimensions that are said."""
    tensor = made(x=text)["x"]
    assert isinstance(tensor, torch.Tensor)
    assert (shape, dtype) == (tuple(tensor.shape), tensor.dtype)


def test_a_list_holds_a_tensor_for_each_part() -> None:
    """Each with its own shape and dtype; a tuple likewise, and a list of one."""
    maps = made(x="[b,16,n,n; b,24,3,3; n:int64]")["x"]
    assert isinstance(maps, list)
    assert [(2, 16, 6, 6), (2, 24, 3, 3), (6,)] == [tuple(one.shape) for one in maps]
    states = made(x="(b,4; b,5)")["x"]
    assert isinstance(states, tuple)
    assert [(2, 4), (2, 5)] == [tuple(one.shape) for one in states]
    assert 1 == len(made(x="[b,n;]")["x"])  # type: ignore[arg-type]


def test_a_number_that_is_no_dimension_is_smaller_than_dimensions() -> None:
    """So that a position lies in the sequence of the first run."""
    hints = hints_for(values_of("Net", {"x": "b,n", "start": "start_pos"}), {})
    assert hints["start_pos"] < min(hints["b"], hints["n"])


def net(root: Path, **inputs: str) -> Recipe:
    given = {"x": "b,n,dim", "start": "4", "maps": "[b,n; b,n]", "image": "b,3,h,w", **inputs}
    init = {"dim": "8", "names": '["a"]', "rate": "0.5"}
    return recipes_for("own_nets.Net", InstanceOptions(init=init, inputs=given, root=root))[0]


def test_what_a_call_fixes_is_said(root: Path) -> None:
    """Numbers and lists are said, a size of its own and shapes of mere names are not."""
    assert {"start=4", "maps=[b,n; b,n]", "image=b,3,h,w"} == set(net(root).fixed)
    own = net(root, start="start_pos", maps="[]", image="b,c,h,w")
    assert ("maps=[]",) == own.fixed
    assert "start=n - 1" in net(root, start="n - 1").fixed
    assert "start=n" in net(root, start="n").fixed


def test_a_word_is_one_where_the_annotation_says_so(root: Path) -> None:
    """`mode: str` takes `mean` without quotes."""
    recipe = net(root, mode="mean")
    _, kwargs = recipe.inputs(ChosenSizes(), recipe.build(ChosenSizes()), PlainMaker())
    assert "mean" == kwargs["mode"]


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"x": "4"}, r"x is annotated tensor[\s\S]*--input x=batch_size"),
        ({"start": "b,n"}, r"start is annotated int[\s\S]*--input start=4"),
        ({"maps": "b,n"}, r"maps is annotated list[\s\S]*maps=\[batch_size,channels,height,width; "),
        ({"mode": "b,n"}, "mode is annotated str"),
    ],
)
def test_a_value_that_the_annotation_does_not_let_in_is_refused(
    root: Path, inputs: dict[str, str], message: str
) -> None:
    """Never one tensor in place of a list, nor a tensor in place of a number."""
    with pytest.raises(NoRecipe, match=message):
        net(root, **inputs)


def test_advice_names_everything_that_is_missing_and_fits_it(root: Path) -> None:
    """Every argument and input, each by its annotation."""
    with pytest.raises(NoRecipe) as raised:
        recipes_for("own_nets.Net", InstanceOptions(init={"dim": "8"}, root=root))
    told = str(raised.value)
    wanted = ("--init names=[64,64]", "--init rate=0.5", "--input start=4", "--input image=batch_size,3,")
    assert all(flag in told for flag in wanted), told
    assert "--init dim" not in told


def test_what_has_no_notation_is_told_so(root: Path) -> None:
    """A dict or a dataclass: a module that makes it of tensors does."""
    with pytest.raises(NoRecipe, match="batch is record, which has no notation"):
        recipes_for("own_nets.Records", InstanceOptions(root=root))
    given = InstanceOptions(inputs={"batch": "b,n", "table": "b,n"}, root=root)
    with pytest.raises(NoRecipe, match="--input batch=b,n: batch is record, which has no notation"):
        recipes_for("own_nets.Records", given)


def test_a_config_goes_to_an_argument_that_is_annotated_with_a_dataclass(root: Path) -> None:
    """Whatever it is called; the advice for it can be followed."""
    with pytest.raises(NoRecipe, match="--config file.json"):
        recipes_for("own_nets.Told", InstanceOptions(root=root))
    file = root / "args.json"
    file.write_text('{"x": 12}')
    given = InstanceOptions(config_file=file, inputs={"x": "b,n"}, root=root)
    sizes = ChosenSizes()
    recipes_for("own_nets.Told", given)[0].build(sizes)
    assert {"x": 12} == sizes.chosen


@pytest.mark.parametrize(
    ("annotation", "kinds"),
    [
        *((int, {"int"}), (int | None, {"int"}), ("int", {"int"}), ("Optional[Tensor]", {"tensor"})),
        *((torch.Tensor, {"tensor"}), (list[torch.Tensor], {"list"}), ("List[Tensor]", {"list"})),
        *((tuple[int, int], {"ints"}), (torch.Tensor | float, {"tensor", "float"}), (object, set())),
        *((torch.nn.Linear, {"module"}), ("SomeCache | None", set()), (dict[str, int], {"dict"})),
    ],
)
def test_kinds_of_annotations(annotation: object, kinds: set[str]) -> None:
    """As they are written, resolved or as text; what is unknown tells nothing."""
    assert kinds == kinds_of(annotation)

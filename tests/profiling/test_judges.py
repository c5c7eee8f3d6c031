"""Second opinions: what each judge says of real calls, of wrong numbers, and where it has none."""

from __future__ import annotations

import inspect
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn
from torch.profiler import profile
from torch.utils.flop_counter import flop_registry

from forwardbook.analyzers.instances.recipe import InputMaker, Inputs, Recipe, Sizes
from forwardbook.analyzers.instances.recipes import recipes_for
from forwardbook.analyzers.symbolic.patterns import find_call
from forwardbook.analyzers.symbolic.recorder import Widths
from forwardbook.analyzers.symbolic.run import run_measured
from forwardbook.analyzers.symbolic.summary import summarise
from forwardbook.profiling.allocated import PARAMETERS
from forwardbook.profiling.case import Case
from forwardbook.profiling.counter_judge import uncounted
from forwardbook.profiling.cpu_kernels import OTHER_RESULTS, WORKSPACES
from forwardbook.profiling.hooks import NotCalled, watched
from forwardbook.profiling.judges import ask
from forwardbook.schema import Judge

SMALL = {
    "hidden_size": 24,
    "intermediate_size": 40,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 6,
    "vocab_size": 60,
    "batch_size": 3,
    "seq_len": 7,
}


class Twice(nn.Module):
    """Calls one layer on 3 rows, then on 2; a second layer never."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.used = nn.Linear(features, features)
        self.unused = nn.Linear(features, features)

    def forward(self, x: Tensor) -> Tensor:
        return self.used(self.used(x)[:2])  # type: ignore[no-any-return]


def twice(sizes: Sizes) -> nn.Module:
    return Twice(sizes("features", 5))


def three_rows(sizes: Sizes, module: nn.Module, maker: InputMaker) -> Inputs:
    return (maker.floats((3, sizes("features", 5))),), {}


class Forked(nn.Module):
    """One result where its data says so, as all data does, and a smaller one where it is taken as no."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([x, x]) if x.mean() > -9 else x * 2


FORKED = Recipe(target=f"{__name__}.Forked", library="tests", build=lambda sizes: Forked(), inputs=three_rows)
TWICE = Recipe(target=f"{__name__}.Twice", library="tests", build=twice, inputs=three_rows)


def said(
    recipe: Recipe,
    sizes: dict[str, int] | None = None,
    path: str = "",
    occurrence: int = 0,
    wrong: dict[str, int] | None = None,
    decided: tuple[str, ...] = (),
) -> dict[str, Judge]:
    """What the judges say of our measurement, or of `wrong` numbers in its place, by quantity."""
    trace, _ = run_measured(recipe, sizes or {}, torch.float32, Widths(4, 4, 4))
    call = find_call(trace, path, occurrence)
    assert call is not None
    quantities = summarise(trace, call, int).quantities()  # type: ignore[arg-type]
    measured = {name: int(size) for name, size in quantities.items()} | (wrong or {})  # type: ignore[call-overload]
    names = [operation.name for operation in trace.of(call)]
    case = Case(recipe, sizes or {}, torch.float32, path, occurrence, measured)
    return {j.quantity: j for j in ask(case, names, decided=decided)}


def recipe_of(target: str) -> Recipe:
    return recipes_for(target)[0]


@pytest.mark.parametrize(
    "name", ["Linear", "Conv2d", "LSTM", "MultiheadAttention", "LayerNorm", "MaxPool2d", "Softmax", "GRUCell"]
)
def test_all_judges_agree(name: str) -> None:
    """Each of the three has an opinion, and it is ours."""
    judges = said(recipe_of(f"torch.nn.{name}"))
    expected = dict.fromkeys(("flops", "weights", "peak"), (1, 1))
    assert expected == {q: (j.agreed, j.asked) for q, j in judges.items()}


def test_a_wrong_number_is_contradicted() -> None:
    """Both numbers are told, and a line of forward()."""
    linear = recipe_of("torch.nn.Linear")
    right = said(linear)
    judges = said(linear, wrong={"flops": 1, "weights": 2, "peak": 3})
    assert all((j.agreed, j.asked) == (0, 1) for j in judges.values())
    assert {"flops": 1, "weights": 2, "peak": 3} == {q: j.ours for q, j in judges.items()}
    assert {q: j.theirs for q, j in right.items()} == {q: j.theirs for q, j in judges.items()}
    assert all((j.remark, j.line) == ("", 0) for j in right.values())
    lines, first = inspect.getsourcelines(nn.Linear.forward)
    assert judges["peak"].file == "torch/nn/modules/linear.py"
    assert "F.linear(" in lines[judges["peak"].line - first]


def test_numbers_in_operations_are_tensors() -> None:
    """1 + abs(x): the 1 lives as 8 bytes and as 4 while it is added; these bytes alone are left out."""
    peak = said(recipe_of("torch.nn.Softsign"))["peak"]
    assert (peak.agreed, peak.asked, peak.ours, peak.theirs) == (1, 1, 560, 560)
    assert "numbers in operations: 8 bytes; aten.add (the CPU casts" in peak.remark


def test_an_uncounted_contraction_silences_the_counter() -> None:
    """torch does not count bilinear maps: no opinion, and the operation is named."""
    judge = said(recipe_of("torch.nn.Bilinear"))["flops"]
    assert (judge.asked, judge.remark) == (0, "it does not count aten._trilinear")


def test_what_the_counter_knows() -> None:
    """Products it has a formula for are not holes; vectors and grouped products are."""
    assert not {"aten.mm", "aten.convolution", "forwardbook.sdpa"} & uncounted()
    assert {"aten.mv", "aten.dot", "aten._trilinear", "forwardbook.grouped_mm"} <= uncounted()
    assert not {str(packet) for packet in flop_registry} & uncounted()


def test_workspaces_and_other_results_are_different_operations() -> None:
    """An operation either has a workspace that is left out, or silences the allocator."""
    assert not WORKSPACES.keys() & OTHER_RESULTS.keys()


@pytest.mark.parametrize("name", ["MaxPool1d", "Fold", "BatchNorm2d", "EmbeddingBag", "MSELoss", "Unfold"])
def test_other_results_of_the_cpu_are_named_and_the_rest_agrees(name: str) -> None:
    """Whatever an operation returns there alone is in the remark under its name, and in neither number."""
    peak = said(recipe_of(f"torch.nn.{name}"))["peak"]
    assert (1, 1) == (peak.agreed, peak.asked)
    named = [operation for operation in (*OTHER_RESULTS, *WORKSPACES) if operation in peak.remark]
    assert 1 == len(named)


class Blurred(nn.Module):
    """Normalises a batch, whose statistics differ between devices, beside two sums."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(5)

    def forward(self, x: Tensor) -> Tensor:
        y = self.norm(x)
        return (y + x) * (y - x)


def test_an_excuse_is_of_its_own_operation() -> None:
    """A peak that is a byte off is contradicted, whatever the batch norm beside it keeps."""
    recipe = Recipe(
        target=f"{__name__}.Blurred",
        library="tests",
        build=lambda sizes: Blurred(),
        inputs=lambda sizes, module, maker: ((maker.floats((7, 5)),), {}),
    )
    three = 3 * 7 * 5 * 4  # y, the sum, the difference: then the product takes the place of none
    right = said(recipe)["peak"]
    assert (1, four := three + 7 * 5 * 4) == (right.agreed, right.theirs)
    assert "aten.native_batch_norm" in right.remark
    assert 0 == said(recipe, wrong={"peak": four + 1})["peak"].agreed


class Mixed(nn.Module):
    """A bilinear map, which torch does not count, of two products, which it does."""

    def __init__(self) -> None:
        super().__init__()
        self.left, self.right = nn.Linear(3, 4), nn.Linear(3, 5)
        self.both = nn.Bilinear(4, 5, 6)

    def forward(self, x: Tensor) -> Tensor:
        left = self.left(x)
        right = self.right(x)
        return self.both(left, right)  # type: ignore[no-any-return]


def test_what_the_counter_does_not_know_is_taken_out_of_both() -> None:
    """The rest must be equal: 2 * 7 * 3 * (4 + 5) flops; the line of a wrong one is found."""
    recipe = Recipe(
        target=f"{__name__}.Mixed",
        library="tests",
        build=lambda sizes: Mixed(),
        inputs=lambda sizes, module, maker: ((maker.floats((7, 3)),), {}),
    )
    right = said(recipe)["flops"]
    assert (1, 378, 378) == (right.agreed, right.ours, right.theirs)
    assert right.remark.startswith("left out: it does not count aten._trilinear: ")
    assert 0 == said(recipe, wrong={"flops": (right.ours or 0) + 1})["flops"].agreed


def test_one_call_of_several_is_judged() -> None:
    """The second call of a layer has 2 rows; its own two parameters are all touched."""
    judges = said(TWICE, path="used", occurrence=1)
    assert all((j.agreed, j.asked) == (1, 1) for j in judges.values())


def test_an_untouched_parameter_is_left_out_of_the_weights() -> None:
    """The whole module holds a layer that it never calls: what it does touch is compared."""
    judge = said(TWICE)["weights"]
    assert (1, 1, 4 * (5 * 5 + 5)) == (judge.agreed, judge.asked, judge.theirs)
    assert judge.remark == "left out: unused.weight, unused.bias: the call does not touch them"


def test_a_module_that_cannot_run_has_no_judges() -> None:
    """The reason is told by each."""

    def too_wide(sizes: Sizes, module: nn.Module, maker: InputMaker) -> Inputs:
        return (maker.floats((3, 6)),), {}

    judges = ask(Case(replace(TWICE, inputs=too_wide), {}, torch.float32, "", 0, {}), [])
    assert [0, 0, 0] == [j.asked for j in judges]
    assert all("it could not run the call: RuntimeError" in j.remark for j in judges)


def test_a_run_whose_data_goes_another_way_says_nothing_of_ours() -> None:
    """Where a branch on data was decided the allocator's disagreement is none; where none was, it stays."""
    assert said(FORKED)["peak"].disagrees
    judge = said(FORKED, decided=("a branch, taken as False",))["peak"]
    assert (0, 0) == (judge.agreed, judge.asked)
    assert judge.remark == "its data may decide otherwise: a branch, taken as False"


def test_a_large_model_is_not_built() -> None:
    """Above 30 million parameters the allocator is not asked."""
    judges = said(recipe_of("torch.nn.Linear"), {"in_features": 2, "out_features": PARAMETERS})
    assert [0, 1] == [judges["peak"].asked, judges["flops"].agreed]
    assert "90,000,000 parameters, more than 30,000,000" in judges["peak"].remark


def test_a_call_that_does_not_happen_is_an_error() -> None:
    """Path and occurrence must be those of a run of the same recipe."""
    with pytest.raises(NotCalled, match="call 2 of the module at the root: it was called 1 times"):
        module = nn.Identity()
        with watched(module, "", 2, lambda: None, lambda: None):
            module(1)


@pytest.mark.parametrize("part", ["mlp", "input_layernorm", "self_attn.q_proj"])
def test_parts_of_llama(part: str) -> None:
    """Judges reach a module inside a model."""
    recipe = recipe_of("transformers.models.llama.modeling_llama.LlamaMLP")
    judges = said(recipe, SMALL, f"layers.1.{part}")
    assert all((j.agreed, j.asked) == (1, 1) for j in judges.values())


def test_watching_attaches_no_hook() -> None:
    """Modules with hooks take other kernels: a transformer layer has one fused kernel without."""
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
    with torch.no_grad(), watched(layer, "", 0, lambda: None, lambda: None), profile() as profiled:
        layer(torch.zeros(2, 3, 8))
    assert "aten::_transformer_encoder_layer_fwd" in {event.name for event in profiled.events() or ()}

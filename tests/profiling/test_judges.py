"""Second opinions: what each judge says of real calls, of wrong numbers, and where it has none."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn
from torch.utils.flop_counter import flop_registry

from forwardbook.analyzers.instances.recipe import InputMaker, Inputs, Recipe, Sizes
from forwardbook.analyzers.instances.recipes import recipes_for
from forwardbook.analyzers.symbolic.patterns import find_call
from forwardbook.analyzers.symbolic.recorder import Widths
from forwardbook.analyzers.symbolic.run import run_measured
from forwardbook.analyzers.symbolic.summary import summarise
from forwardbook.profiling.allocated import PARAMETERS, replayed
from forwardbook.profiling.hooks import NotCalled, watched
from forwardbook.profiling.judges import OTHER_RESULTS, WORKSPACES, ask, uncounted
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


TWICE = Recipe(target=f"{__name__}.Twice", library="tests", build=twice, inputs=three_rows)


def said(
    recipe: Recipe,
    sizes: dict[str, int] | None = None,
    path: str = "",
    occurrence: int = 0,
    wrong: dict[str, int] | None = None,
) -> dict[str, Judge]:
    """What the judges say of our measurement, or of `wrong` numbers in its place, by quantity."""
    trace, _ = run_measured(recipe, sizes or {}, torch.float32, Widths(4, 4, 4))
    call = find_call(trace, path, occurrence)
    assert call is not None
    quantities = summarise(trace, call, int).quantities()  # type: ignore[arg-type]
    measured = {name: int(size) for name, size in quantities.items()} | (wrong or {})  # type: ignore[call-overload]
    names = [operation.name for operation in trace.of(call)]
    return {j.quantity: j for j in ask(recipe, sizes or {}, torch.float32, path, occurrence, measured, names)}


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
    """The remark holds both numbers."""
    linear = recipe_of("torch.nn.Linear")
    right = said(linear)
    judges = said(linear, wrong={"flops": 1, "weights": 2, "peak": 3})
    assert all((j.agreed, j.asked) == (0, 1) for j in judges.values())
    assert judges["peak"].remark.endswith("against our 3")
    assert all(j.remark == "" for j in right.values())


def test_numbers_in_operations_are_tensors() -> None:
    """1 + abs(x): the 1 lives as 8 bytes and as 4 while it is added; that is agreement, and is said."""
    peak = said(recipe_of("torch.nn.Softsign"))["peak"]
    assert (peak.agreed, peak.asked) == (1, 1)
    assert "numbers in operations" in peak.remark


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


def test_other_kernels_silence_the_allocator() -> None:
    """MaxPool1d keeps no indices on the CPU; the two others still speak."""
    judges = said(recipe_of("torch.nn.MaxPool1d"))
    assert [0, 1, 1] == [judges[q].asked for q in ("peak", "flops", "weights")]


def test_one_call_of_several_is_judged() -> None:
    """The second call of a layer has 2 rows; its own two parameters are all touched."""
    judges = said(TWICE, path="used", occurrence=1)
    assert all((j.agreed, j.asked) == (1, 1) for j in judges.values())


def test_an_untouched_parameter_silences_the_weights() -> None:
    """The whole module holds a layer that it never calls."""
    judge = said(TWICE)["weights"]
    assert (judge.asked, judge.remark) == (0, "the call does not touch unused.weight, unused.bias")


def test_a_module_that_cannot_run_has_no_judges() -> None:
    """The reason is told by each."""

    def too_wide(sizes: Sizes, module: nn.Module, maker: InputMaker) -> Inputs:
        return (maker.floats((3, 6)),), {}

    judges = ask(replace(TWICE, inputs=too_wide), {}, torch.float32, "", 0, {}, [])
    assert [0, 0, 0] == [j.asked for j in judges]
    assert all("it could not run the call: RuntimeError" in j.remark for j in judges)


def test_a_large_model_is_not_built() -> None:
    """Above 30 million parameters the allocator is not asked."""
    judges = said(recipe_of("torch.nn.Linear"), {"in_features": 2, "out_features": PARAMETERS})
    assert [0, 1] == [judges["peak"].asked, judges["flops"].agreed]
    assert "TooLarge" in judges["peak"].remark


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


def test_replay() -> None:
    """Live bytes at their highest; a release of what was there before does not count."""
    assert 30 == replayed([(1, 7, 10), (2, 8, 20), (3, 7, -10), (4, 9, 5), (5, 99, -1000)])


def test_replay_leaves_out_workspaces() -> None:
    """Memory born and released within a span is a kernel's own; what outlives the span stays."""
    events = [(1, 7, 10), (2, 8, 20), (3, 8, -20), (4, 9, 5)]
    assert 30 == replayed(events)
    assert 15 == replayed(events, spans=[(2, 3)])
    assert 30 == replayed(events, spans=[(2, 2)])

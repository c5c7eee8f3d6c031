"""A class within a model, derived at its own boundary: short, in its own names, and right."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.library import custom_op

from forwardbook.analyzers.derive.boundary import Boundary
from forwardbook.analyzers.derive.derivation import run_of_model
from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.calculator import Costs
from forwardbook.entries.cost_model import CostModel
from forwardbook.entries.record import Call, Entry, Regime
from forwardbook.formula import parse
from forwardbook.pipeline.composed.ways import Ways

Maker = Callable[..., Recipe]
BYTES = {"a_dtype_bytes": 2, "w_dtype_bytes": 2, "kv_dtype_bytes": 2}


class Attention(nn.Module):
    """Attention whose length is whatever it is handed."""

    def __init__(self, dim: int, num_heads: int) -> None:
        super().__init__()
        self.num_heads, self.head_dim = num_heads, dim // num_heads
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.out = nn.Linear(dim, dim, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        batch, length, dim = x.shape
        parts = self.qkv(x).view(batch, length, 3, self.num_heads, self.head_dim).permute(2, 0, 3, 1, 4)
        query, key, value = parts.unbind(0)
        scores = (query @ key.transpose(-1, -2)).softmax(-1)
        return self.out((scores @ value).transpose(1, 2).reshape(batch, length, dim))


class Layer(nn.Module):
    """Attention with a residual, told by another name how wide it is."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.attention = Attention(width, heads)

    def forward(self, hidden: Tensor) -> Tensor:
        return hidden + self.attention(hidden)


class Model(nn.Module):
    """A stem that shortens what comes in, and layers over what is left."""

    def __init__(self, channels: int, width: int, kernel: int, stride: int, heads: int, depth: int) -> None:
        super().__init__()
        self.stem = nn.Conv1d(channels, width, kernel, stride)
        self.layers = nn.ModuleList([Layer(width, heads) for _ in range(depth)])

    def forward(self, samples: Tensor) -> Tensor:
        hidden = self.stem(samples).transpose(1, 2)
        for layer in self.layers:
            hidden = layer(hidden)
        return hidden


@pytest.fixture(scope="module")
def entries() -> dict[str, Entry]:
    """What is derived of the model and of all that it calls, by the name of the class."""
    return {}


@pytest.fixture
def derived(recipe_from: Maker, entries: dict[str, Entry]) -> dict[str, Entry]:
    """The entries, derived the first time that they are asked for."""
    if not entries:
        recipe = recipe_from(
            Model,
            lambda s: Model(s.channels, s.width, s.kernel, s.stride, s.heads, s.depth),
            lambda s, maker: (maker.floats((s.batch, s.channels, s.samples)),),
            batch=3,
            channels=5,
            samples=61,
            width=80,
            kernel=7,
            stride=2,
            heads=4,
            depth=2,
        )
        run, watch = run_of_model(recipe, torch.bfloat16)
        boundary, ways = watch.boundary(0), Ways()
        assert isinstance(boundary, Boundary), boundary
        callee = ways.lookup(boundary, run.expressions.of)
        assert callee is not None, [one.reason for one in ways.known.values()]
        entries |= ways.entries
    return entries


@custom_op("forwardbook_tests::doubled_alone", mutates_args=())
def doubled(x: Tensor) -> Tensor:
    """An operation that nobody wrote a rule for."""
    return x * 2


@doubled.register_fake
def _(x: Tensor) -> Tensor:
    return torch.empty_like(x)


class Foreign(nn.Module):
    """A class whose cost nobody can say."""

    def forward(self, x: Tensor) -> Tensor:
        return doubled(x)


def test_an_operation_without_a_rule_is_no_zero(recipe_from: Maker) -> None:
    """Formulas and runs would agree on nothing at all: there are no formulas instead."""
    recipe = recipe_from(Foreign, lambda s: Foreign(), lambda s, maker: (maker.floats((s.n, s.m)),), n=3, m=5)
    run, watch = run_of_model(recipe, torch.bfloat16)
    boundary, ways = watch.boundary(0), Ways()
    assert isinstance(boundary, Boundary), boundary

    assert ways.lookup(boundary, run.expressions.of) is None
    [entry] = ways.entries.values()
    assert "unproved" == entry.verdict
    assert "no rule states what forwardbook_tests.doubled_alone" in entry.reason


def regime(entries: dict[str, Entry], name: str) -> Regime:
    """The regime of a class that is for all sizes from 2 on."""
    [key] = [key for key in entries if f".{name}~" in key]
    return entries[key].regimes[-1]


def call_of(entries: dict[str, Entry], name: str, attribute: str) -> Call:
    """The one call of a submodule."""
    [call] = [one for one in regime(entries, name).calls if one.attribute == attribute]
    return call


def cost(entries: dict[str, Entry], name: str, **sizes: int) -> Costs[int]:
    """The eight quantities of a call, calls within it included."""
    [key] = [key for key in entries if f".{name}~" in key]
    return CostModel(entries).evaluate(key, sizes | BYTES).costs


def test_formula_is_that_of_a_person(derived: dict[str, Entry]) -> None:
    """The scores and what they weigh, whatever the model made of width and length; all else are calls."""
    flops = parse(regime(derived, "Attention").own.flops)

    assert parse("4 * {batch_size} * {seq_len} * {seq_len} * {dim}") == flops


def test_caller_says_what_a_length_is(derived: dict[str, Entry]) -> None:
    """The stem made the length: that is said of the call, not in the formula of the class."""
    bindings = call_of(derived, "Model", "layers.*").bindings

    assert parse("floor(({width_2} - {kernel}) / {stride}) + 1") == parse(bindings["seq_len"])


def test_layers_are_called_as_often_as_there_are(derived: dict[str, Entry]) -> None:
    """The depth is a name, though Python counted with a number."""
    assert "{depth}" == call_of(derived, "Model", "layers.*").times


def test_a_width_is_made_of_heads(derived: dict[str, Entry]) -> None:
    """The module refuses a width that heads do not divide: no floor and no condition is left of it."""
    one = regime(derived, "Attention")

    assert {"dim": parse("{num_heads} * {head_dim}")} == {k: parse(v) for k, v in one.definitions.items()}


def test_every_way_is_exact(derived: dict[str, Entry]) -> None:
    """At every point of its proof each number of each line was equal."""
    assert {"exact"} == {one.verdict for one in derived.values()}
    assert all(one.proof.points for entry in derived.values() for one in entry.regimes)


@pytest.mark.parametrize("batch", [1, 2, 8])
@pytest.mark.parametrize("length", [1, 16, 300])
def test_flops_are_those_of_a_hand_formula_at_all_sizes(
    derived: dict[str, Entry], batch: int, length: int
) -> None:
    """Also for one sample and one position."""
    sizes = {"batch_size": batch, "seq_len": length, "num_heads": 4, "head_dim": 8}
    dim = 32

    assert cost(derived, "Attention", **sizes).flops == 4 * batch * length * dim * (length + 2 * dim)


def test_a_single_position_is_transposed_without_a_copy(derived: dict[str, Entry]) -> None:
    """The result lies as it should where there is one position; queries, keys and values lie apart still."""
    sizes = {"batch_size": 2, "seq_len": 1, "num_heads": 4, "head_dim": 8}
    projected, scores, weighed, out = 3 * 32, 4, 32, 32  # elements of one sample
    copied = 3 * 32  # between two samples lie keys and values: matmul wants its batches evenly spaced
    written = projected + copied + 2 * scores + weighed + out  # the softmax writes the scores anew

    assert cost(derived, "Attention", **sizes).writes == BYTES["a_dtype_bytes"] * 2 * written


def test_a_line_that_only_calls_has_its_source(derived: dict[str, Entry]) -> None:
    """It costs nothing itself; what it calls does."""
    one = regime(derived, "Model")
    [line] = [line for line in one.lines if line.line == call_of(derived, "Model", "layers.*").line]

    assert "hidden = layer(hidden)" in line.code
    assert {"0"} == {line.flops, line.pointwise_ops, line.reads, line.writes}


def test_an_entry_says_of_what_it_is(derived: dict[str, Entry]) -> None:
    """The versions, the code and the engine."""
    linear = next(one for one in derived.values() if one.full_class_name.endswith(".Linear"))

    assert {"torch": torch.__version__} == linear.versions
    assert linear.source_hash and linear.engine

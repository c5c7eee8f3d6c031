"""A class within a model, derived at its own boundary: short, in its own names, and right."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from forwardbook.analyzers.derive.compose import SUMS, composed
from forwardbook.analyzers.derive.derivation import Call, Derivations, run_of_model
from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.symbolic.run import SYMBOLIC_WIDTHS
from forwardbook.formula import Condition, parse
from forwardbook.profiling.proof import prove

Maker = Callable[..., Recipe]


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
    """A stem that shortens what comes in, and two layers over what is left."""

    def __init__(self, channels: int, width: int, kernel: int, stride: int, heads: int) -> None:
        super().__init__()
        self.stem = nn.Conv1d(channels, width, kernel, stride)
        self.layers = nn.ModuleList([Layer(width, heads) for _ in range(2)])

    def forward(self, samples: Tensor) -> Tensor:
        hidden = self.stem(samples).transpose(1, 2)
        for layer in self.layers:
            hidden = layer(hidden)
        return hidden


@pytest.fixture(scope="module")
def derivations() -> Derivations:
    """What was derived so far."""
    return Derivations()


@pytest.fixture
def calls(recipe_from: Maker, derivations: Derivations) -> dict[str, list[Call]]:
    """The calls in one run of the model, by class."""
    recipe = recipe_from(
        Model,
        lambda s: Model(s.channels, s.width, s.kernel, s.stride, s.heads),
        lambda s, maker: (maker.floats((s.batch, s.channels, s.samples)),),
        batch=3,
        channels=5,
        samples=61,
        width=12,
        kernel=7,
        stride=2,
        heads=4,
    )
    run, watch = run_of_model(recipe)
    found: dict[str, list[Call]] = {}
    for place, (module, _) in enumerate(watch.calls):
        if not isinstance(module, Model):
            call = derivations.call(watch.boundary(place), run.expressions.of)
            assert isinstance(call, Call), call
            found.setdefault(type(module).__name__, []).append(call)
    return found


def test_formula_is_that_of_a_person(calls: dict[str, list[Call]]) -> None:
    """Of the width and the length alone, whatever the model made them of."""
    flops = calls["Attention"][0].child.formulas["flops"]

    assert parse("4 * {batch_size} * {seq_len} * {dim} * ({seq_len} + 2 * {dim})") == flops


def test_caller_says_what_a_length_is(calls: dict[str, list[Call]]) -> None:
    """The stem made the length: that is said of the call, not in the formula of the class."""
    bindings = calls["Layer"][0].bindings

    assert parse("floor(({samples} - {kernel}) / {stride}) + 1") == bindings["seq_len"]
    assert parse("{width}") == bindings["width"]


def test_a_width_is_made_of_heads(calls: dict[str, list[Call]]) -> None:
    """The module refuses a width that heads do not divide: no floor and no condition is left of it."""
    attention = calls["Attention"][0].child

    assert {"dim": parse("{num_heads} * {head_dim}")} == attention.local.definitions
    assert attention.conditions == ()


def test_what_is_called_alike_is_derived_once(calls: dict[str, list[Call]]) -> None:
    """Two layers of the same width are one."""
    first, second = calls["Attention"]

    assert first.child is second.child


@pytest.mark.parametrize("name", ["Attention", "Layer", "Conv1d", "Linear"])
def test_measured_numbers_are_those_of_the_formulas(name: str, calls: dict[str, list[Call]]) -> None:
    """Alone, at sizes of its own choice, every number of every line."""
    one = calls[name][0].child
    held = [Condition.at_least(size, 2) for size in one.hints]

    [proof] = prove(one.local.recipe(), [one.pattern], one.hints, torch.float32, seed=3, held=held)

    assert proof.exact, (proof.reason, proof.differences)


@pytest.mark.parametrize("name", ["Attention", "Layer"])
def test_a_class_costs_what_its_lines_and_its_calls_do(
    name: str, calls: dict[str, list[Call]], derivations: Derivations
) -> None:
    """Sums are equal as expressions, peaks at random sizes."""
    one = calls[name][0].child
    made = [call for call in derivations.calls(one) if isinstance(call, Call)]
    parts, whole = composed(one.parts, [call.quantities() for call in made]), one.quantities
    rng = random.Random(5)

    assert {name: whole[name] for name in SUMS} == {name: parts[name] for name in SUMS}
    for _ in range(20):
        sizes = {size: rng.randint(2, 500) for size in (*one.hints, *SYMBOLIC_WIDTHS)}
        assert whole["peak"].evaluate(sizes) == parts["peak"].evaluate(sizes)


def test_linear_of_equal_widths_is_any_linear(calls: dict[str, list[Call]]) -> None:
    """The last one is as wide as it is deep there; its formula knows both."""
    flops = calls["Linear"][1].child.formulas["flops"]

    assert parse("2 * {batch_size} * {seq_len} * {in_features} * {out_features}") == flops


class Holding(nn.Module):
    """It is handed a module that somebody else made."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(x) + 1


class Sharing(nn.Module):
    """It hands one module to another."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.holding = Holding(nn.Linear(width, width))

    def forward(self, x: Tensor) -> Tensor:
        return self.holding(x)


def test_a_module_that_is_handed_over_is_a_reason(recipe_from: Maker) -> None:
    """It cannot be built alone, and says what stands in the way."""
    recipe = recipe_from(
        Sharing,
        lambda s: Sharing(s.width),
        lambda s, maker: (maker.floats((s.rows, s.width)),),
        rows=3,
        width=8,
    )
    run, watch = run_of_model(recipe)

    reason = Derivations().call(watch.boundary(1), run.expressions.of)

    assert "a module of class Linear is handed over" == reason

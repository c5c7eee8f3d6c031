"""What a holder chooses beside the config is told of a call: it is in no size, nor in the config."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from torch import Tensor, nn

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.symbolic.patterns import class_name, patterns
from forwardbook.analyzers.symbolic.run import run_symbolically
from forwardbook.analyzers.symbolic.told import apart, noted


class Block(nn.Module):
    """Masks if it is told to."""

    def __init__(
        self, width: int, is_causal: bool = False, kind: str = "plain", name: str | None = None
    ) -> None:
        super().__init__()
        self.is_causal = is_causal

    def forward(self, x: Tensor) -> Tensor:
        return x * x + 1 if self.is_causal else x * x


class Special(Block):
    """Its own constructor is the one that its holder tells."""

    def __init__(self, width: int, deep: bool = False) -> None:
        super().__init__(width, is_causal=not deep)


class Model(nn.Module):
    """Two blocks of one cost, and one of another."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = Block(3, True, kind="first"), Block(3, True)
        self.last = Block(3)

    def forward(self, x: Tensor) -> Tensor:
        return self.last(self.second(self.first(x)))  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: Block(3), ()),
        (lambda: Block(3, is_causal=False), ()),
        (lambda: Block(3, True, name="n"), ("is_causal=True", "name=n")),
        (lambda: Block(3, kind="long" * 20), ()),
        (lambda: Special(3), ()),
        (lambda: Special(3, deep=True), ("deep=True",)),
    ],
)
def test_choices_that_are_not_the_default_are_told(
    make: Callable[[], nn.Module], told: tuple[str, ...]
) -> None:
    """Sizes and the config are no choices; of a class within a class only the outermost is told anything."""
    with noted() as found:
        module = make()

    assert told == found[id(module)]


def test_a_pattern_says_what_all_its_calls_were_told(recipe_from: Callable[..., Recipe]) -> None:
    """Of the blocks of one cost both are causal, and only one is of another kind."""
    recipe = recipe_from(Model, lambda n: Model(), lambda n, maker: (maker.floats((n.rows, 4)),), rows=5)

    found = patterns(run_symbolically(recipe), class_name(Block(3)))

    assert [("is_causal=True",), ()] == [one.told for one in found]
    assert [("first", "second"), ("last",)] == [one.paths for one in found]


class Layer(nn.Module):
    """Of two kinds, of which one costs more."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.layer_type, self.deterministic = kind, True

    def forward(self, x: Tensor) -> Tensor:
        return x * x + 1 if self.layer_type == "full" else x * x


class Layers(nn.Module):
    """Every second layer is full."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([Layer(kind) for kind in ("sliding", "full", "sliding", "full")])

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


class Holder(nn.Module):
    """Keeps nothing itself, but its attention does."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.attention = Layer(kind)


def test_a_layer_is_told_apart_by_what_the_modules_right_below_it_keep() -> None:
    """Where it keeps nothing of the kind itself."""
    assert ("attention.layer_type=full",) == apart([Holder("full")], [Holder("sliding"), Holder("full")])
    assert () == apart([Holder("full")], [Holder("full")])
    assert ("layer_type=full",) == apart([Layer("full")], [Layer("sliding")])


def test_layers_of_a_list_are_told_apart_by_what_they_keep(recipe_from: Callable[..., Recipe]) -> None:
    """What is the same in all of them tells none apart."""
    recipe = recipe_from(Layers, lambda n: Layers(), lambda n, maker: (maker.floats((n.rows, 4)),), rows=5)

    found = patterns(run_symbolically(recipe), class_name(Layer("full")))

    assert [("layer_type=sliding",), ("layer_type=full",)] == [one.kept for one in found]

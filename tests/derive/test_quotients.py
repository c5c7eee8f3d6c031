"""What a quotient is called that running a class demands to be whole."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import pytest
import torch
from torch import Tensor, nn

from forwardbook.analyzers.derive.boundary import Boundary
from forwardbook.analyzers.derive.derivation import run_of_model, settle
from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.formula import Expr, parse

Maker = Callable[..., Recipe]


class Split(nn.Module):
    """Splits the last dimension into so many parts; `held` is kept as an attribute of another name."""

    def __init__(self, width: int, parts: int, held: int) -> None:
        super().__init__()
        self.width, self.parts, self.other = width, parts, held

    def forward(self, x: Tensor) -> Tensor:
        batch, length, _ = x.shape
        return x.view(batch, length, self.parts, self.width // self.parts).sum(-1)


class Rope(Split):
    """Splits into two halves."""

    def __init__(self, width: int, held: int) -> None:
        super().__init__(width, 2, held)


class Heads(Split):
    """Splits into heads."""

    def __init__(self, width: int, num_heads: int) -> None:
        super().__init__(width, num_heads, 1)


class Kept(Heads):
    """The same with an attribute for the size of one."""

    def __init__(self, width: int, num_heads: int) -> None:
        super().__init__(width, num_heads)
        self.size_of_head = width // num_heads


class Cached(Heads):
    """Takes keys of heads as well."""

    def forward(self, x: Tensor, cache: SimpleNamespace | None = None) -> Tensor:
        batch, length, _ = x.shape
        heads = x.view(batch, length, self.parts, self.width // self.parts).transpose(1, 2)
        return heads if cache is None else heads @ cache.keys.transpose(-1, -2)


class Grouped(Split):
    """Splits heads of queries into those of one key."""

    def __init__(self, num_heads: int, num_kv_heads: int) -> None:
        super().__init__(num_heads, num_kv_heads, 1)


def definitions(recipe_from: Maker, kind: type[Split], **sizes: int) -> dict[str, Expr]:
    """What a class demands of the sizes that it is built from; its input is as wide as the first."""
    first = next(iter(sizes))
    recipe = recipe_from(
        kind,
        lambda s: kind(*(getattr(s, name) for name in sizes)),
        lambda s, maker: (maker.floats((s.batch, s.length, getattr(s, first))),),
        batch=3,
        length=5,
        **sizes,
    )
    return _settled(recipe)


def _settled(recipe: Recipe) -> dict[str, Expr]:
    run, watch = run_of_model(recipe, torch.bfloat16)
    boundary = watch.boundary(0)
    assert isinstance(boundary, Boundary), boundary
    return settle(boundary, run.expressions.of, torch.bfloat16).local.definitions


def test_a_size_of_the_input_that_is_the_quotient_is_it(recipe_from: Maker) -> None:
    """The keys of a cache have heads of the same size: that is one name and not two."""
    recipe = recipe_from(
        Cached,
        lambda s: Cached(s.width, s.num_heads),
        lambda s, maker: (
            maker.floats((s.batch, s.length, s.width)),
            SimpleNamespace(keys=maker.floats((s.batch, s.num_heads, s.past, s.size))),
        ),
        batch=3,
        length=5,
        past=6,
        size=7,
        width=28,
        num_heads=4,
    )

    assert {"width": parse("{num_heads} * {head_dim}")} == _settled(recipe)


def test_an_attribute_of_the_same_number_is_not_the_quotient(recipe_from: Maker) -> None:
    """Half of 14 is 7, and so is what the attribute holds, but it is another size."""
    assert {"width": parse("2 * {half_width}")} == definitions(recipe_from, Rope, width=14, held=7)


def test_an_attribute_that_is_the_quotient_names_it(recipe_from: Maker) -> None:
    """Whatever the class calls it."""
    found = definitions(recipe_from, Kept, width=28, num_heads=4)

    assert {"width": parse("{num_heads} * {size_of_head}")} == found


@pytest.mark.parametrize(
    ("kind", "sizes", "expected"),
    [
        (Heads, {"width": 28, "num_heads": 4}, {"width": "{num_heads} * {head_dim}"}),
        (
            Grouped,
            {"num_heads": 28, "num_kv_heads": 4},
            {"num_heads": "{num_kv_heads} * {num_key_value_groups}"},
        ),
        (Split, {"width": 28, "parts": 4, "held": 9}, {"width": "{parts} * {width_per_parts}"}),
    ],
)
def test_a_quotient_without_an_attribute_has_the_usual_word(
    recipe_from: Maker, kind: type[Split], sizes: dict[str, int], expected: dict[str, str]
) -> None:
    """The size of a head, the heads of a group, else what is divided by what."""
    found = definitions(recipe_from, kind, **sizes)

    assert {name: parse(text) for name, text in expected.items()} == found

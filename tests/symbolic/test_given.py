"""Of a call it is told which parameters of forward() had a value, and of choices which."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.symbolic.given import given, without_aliases
from forwardbook.analyzers.symbolic.patterns import class_name, patterns
from forwardbook.analyzers.symbolic.run import run_symbolically

X = torch.ones(2, 4)


class Block(nn.Module):
    """Takes inputs that may be left out."""

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        causal: bool = False,
        scale: float = 1.0,
        **others: object,
    ) -> Tensor:
        return x


class Twice(nn.Module):
    """Calls its block with a mask, and with one by its place."""

    def __init__(self) -> None:
        super().__init__()
        self.block = Block()

    def forward(self, x: Tensor) -> Tensor:
        return self.block(self.block(x, mask=x), x, True)  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("args", "kwargs", "told"),
    [
        (("x",), {}, "x=x"),
        ((torch.ones(1),), {"mask": None, "causal": False, "scale": 1.0}, "x"),
        ((torch.ones(1), torch.ones(1)), {"scale": 2.0}, "x, mask, scale"),
        ((), {"causal": True, "x": torch.ones(1)}, "x, causal=True"),
        ((torch.ones(1),), {"zeta": 1, "alpha": torch.ones(1)}, "x, alpha, zeta"),
        ((torch.ones(1), None, False, 1.0, torch.ones(1)), {}, "x, argument 5"),
        ((torch.ones(1),), {"kind": "a" * 60}, "x, kind"),
        ((), {}, ""),
    ],
)
def test_what_is_none_or_the_default_is_not_told(
    args: tuple[object, ...], kwargs: dict[str, object], told: str
) -> None:
    """Names stand in the order of the signature; those that it does not have follow."""
    assert told == given(Block.forward, args, kwargs)


def test_a_pattern_tells_every_way_in_which_inputs_were_given(recipe_from: Callable[..., Recipe]) -> None:
    """Calls of equal cost are one pattern, which says of each that gave others what it gave."""
    recipe = recipe_from(Twice, lambda n: Twice(), lambda n, maker: (maker.floats((n.rows, 4)),), rows=5)
    run = run_symbolically(recipe)

    (pattern,) = patterns(run, class_name(Block()))

    assert ("x, mask aliases x", "x, mask aliases x, causal=True") == pattern.given


@pytest.mark.parametrize(
    ("mask", "told"),
    [
        (X, "x, mask aliases x"),
        (X[:1], "x, mask aliases x"),
        ((torch.ones(3), X.t()), "x, mask aliases x"),
        (torch.ones(3), "x, mask"),
    ],
)
def test_what_lies_in_the_memory_of_another_input_is_told(mask: object, told: str) -> None:
    """The same tensor, a view of it, or a list with one of these in it."""
    assert told == given(Block.forward, (X,), {"mask": mask}, lambda one: one.untyped_storage().data_ptr())


class Attention(nn.Module):
    """Reads two inputs."""

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        return query + key


class Layers(nn.Module):
    """Its first layer attends to itself, the second to what the first made of it."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([Attention(), Attention()])

    def forward(self, x: Tensor) -> Tensor:
        return self.layers[1](self.layers[0](x, x), x)  # type: ignore[no-any-return]


def test_calls_with_one_tensor_for_two_are_a_pattern_of_their_own(recipe_from: Callable[..., Recipe]) -> None:
    """Every line costs the same, but of two tensors a byte more crosses the boundary for each of one."""
    recipe = recipe_from(Layers, lambda n: Layers(), lambda n, maker: (maker.floats((n.rows, 4)),), rows=5)
    run = run_symbolically(recipe)

    found = {one.given: str(one.summary.boundary) for one in patterns(run, class_name(Attention()))}

    assert {
        ("query, key aliases query",): "8 * {rows} * {a_dtype_bytes}",
        ("query, key",): "12 * {rows} * {a_dtype_bytes}",
    } == found


def test_a_line_is_told_without_its_aliases() -> None:
    """As it was before aliases were told."""
    assert "query, key, causal=True" == without_aliases("query, key aliases query, causal=True")

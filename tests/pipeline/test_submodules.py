"""Lists of submodules: a size counts them, or words say that none does."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch import Tensor, nn

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.pipeline.derivation.explore import regimes_of
from forwardbook.pipeline.derivation.found import Found
from forwardbook.pipeline.derivation.submodules import submodule_calls, uncounted

Maker = Callable[..., Recipe]
WIDTHS = ((3,), (3,), (3,))  # as a configuration may list its stages


class Run(nn.Module):
    """Calls each of its layers."""

    def __init__(self, layers: Sequence[nn.Module]) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


class Listed(Run):
    """As many as a list has."""

    def __init__(self, width: int) -> None:
        super().__init__([nn.Linear(width, width) for _ in WIDTHS])


class Counted(Run):
    """As many as a size says."""

    def __init__(self, width: int, depth: int) -> None:
        super().__init__([nn.Linear(width, width) for _ in range(depth)])


class Repeated(Listed):
    """As many as a list has, and a number of its own says how often the sum is doubled."""

    def __init__(self, width: int, depth: int) -> None:
        super().__init__(width)
        self.depth = depth

    def forward(self, x: Tensor) -> Tensor:
        x = super().forward(x)
        for _ in range(self.depth):
            x = x + x
        return x


class Both(nn.Module):
    """Two stacks, of which a size counts only the second, within a list that holds it."""

    def __init__(self, width: int, depth: int) -> None:
        super().__init__()
        self.inner = Counted(width, depth)
        self.heads = nn.ModuleList([nn.Linear(width, width) for _ in WIDTHS])

    def forward(self, x: Tensor) -> Tensor:
        x = self.inner(x)
        for head in self.heads:
            x = head(x)
        return x


def regime(recipe_from: Maker, kind: type[nn.Module], *names: str, depth: int = 3) -> Found:
    """The one regime of a module that is built with these sizes."""
    recipe = recipe_from(
        kind,
        lambda n: kind(*(getattr(n, name) for name in names)),
        lambda n, maker: (maker.floats((n.rows, n.width)),),
        **{"rows": 5, "width": 6, **({"depth": depth} if "depth" in names else {})},
    )
    return next(one for one in regimes_of(recipe, seed=1, points=3, explore=False) if one.exact)


def test_a_list_that_no_size_counts_is_told(recipe_from: Maker) -> None:
    """The number in the formula is that of this list, and the record says so."""
    found = regime(recipe_from, Listed, "width")

    assert ("layers holds 3 Linear, as they were built: no size says how many",) == uncounted(found)
    assert ["3"] == [one.times for one in submodule_calls(found.derived)]


def test_a_count_in_the_formula_needs_no_words(recipe_from: Maker) -> None:
    """Where the formula names the count, nothing is taken for granted."""
    found = regime(recipe_from, Counted, "width", "depth")

    assert "depth" in found.derived.pattern.summary.symbols()
    assert () == uncounted(found)


def test_the_count_of_a_part_counts_no_other_list(recipe_from: Maker) -> None:
    """A size that a submodule's constructor counted with says nothing of a list beside it."""
    found = regime(recipe_from, Both, "width", "depth")

    assert "depth" in found.derived.pattern.summary.symbols()
    assert ("heads holds 3 Linear, as they were built: no size says how many",) == uncounted(found)


def test_a_number_far_from_a_list_s_length_does_not_count_it(recipe_from: Maker) -> None:
    """A size in the formula that counts something else leaves the list without one."""
    found = regime(recipe_from, Repeated, "width", "depth", depth=7)

    assert "depth" in found.derived.pattern.counts & found.symbols()
    assert ("layers holds 3 Linear, as they were built: no size says how many",) == uncounted(found)

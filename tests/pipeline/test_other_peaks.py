"""What a single one of a size changes is looked for where no other state of memory hides it."""

from __future__ import annotations

import random

from torch import Tensor, nn

from forwardbook.pipeline.derivation.explore import FULL
from forwardbook.pipeline.derivation.other_peaks import at_other_peaks
from forwardbook.pipeline.derivation.regimes import derive
from forwardbook.pipeline.derivation.relax import relax

from .matrices import Maker, over_rows


class Keeping(nn.Module):
    """Of several heads what is projected is kept; the wide layer before is nearly always larger."""

    def __init__(self, head_dim: int, heads: int, inner: int) -> None:
        super().__init__()
        self.heads = heads
        self.up, self.down = nn.Linear(heads * head_dim, 16 * inner), nn.Linear(16 * inner, heads * head_dim)

    def forward(self, x: Tensor) -> Tensor:
        projected = self.down(self.up(x))
        kept = projected if self.heads > 1 else None
        projected = projected + 1
        projected = projected * 2
        del kept
        return projected


def test_a_peak_that_a_single_head_has_not_is_not_missed_behind_another(recipe_from: Maker) -> None:
    """One draw in some ten would have `3 * width` above `16 * inner`; the second draw is aimed there."""
    recipe = recipe_from(
        Keeping,
        lambda n: Keeping(n.head_dim, n.heads, n.inner),
        lambda n, maker: (maker.floats((n.rows, n.heads * n.head_dim)),),
        rows=9,
        head_dim=6,
        heads=4,
        inner=8,
    )

    found = relax(derive(recipe, FULL, [recipe.calls_as], seed=1), 2)

    assert found
    assert all("{heads} > 1" in [c.text() for c in one.conditions] for one in found)


class Collecting(nn.Module):
    """What every layer gives is kept until the head comes."""

    def __init__(self, width: int, inner: int, depth: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])
        self.head = nn.Linear(width, inner)

    def forward(self, x: Tensor) -> Tensor:
        kept = [x]
        for layer in self.layers:
            kept.append(layer(kept[-1]))
        x = kept.pop()
        kept.clear()
        return self.head(x)  # type: ignore[no-any-return]


def test_another_peak_is_not_looked_for_in_hundreds_of_layers(recipe_from: Maker) -> None:
    """Only four hundred would outgrow this head: whatever peak they have, they take too long to run."""
    recipe = over_rows(recipe_from, Collecting, "width", "inner", "depth", inner=8, depth=3)
    [one] = derive(recipe, FULL, [recipe.calls_as], seed=1)
    numbers = {name: note.hint for name, note in one.notes.items()}
    others = {"rows": 5, "width": 2, "inner": 800}
    sizes = {**others, "depth": 4}

    def drawn(fixed: dict[str, int], *counted: str) -> dict[str, int] | None:
        return at_other_peaks([one.pattern], FULL, sizes, numbers, [], random.Random(1), fixed, counted)

    unlimited, narrower = drawn(others), drawn({"rows": 5, "width": 2}, *one.interpolated)
    assert unlimited is not None
    assert unlimited["depth"] >= 400
    assert drawn(others, *one.interpolated) is None
    assert narrower is not None
    assert narrower["depth"] <= 4 * 3

"""What a single one of a size changes is looked for where no other state of memory hides it."""

from __future__ import annotations

from torch import Tensor, nn

from forwardbook.pipeline.derivation.explore import FULL
from forwardbook.pipeline.derivation.regimes import derive
from forwardbook.pipeline.derivation.relax import relax

from .matrices import Maker


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

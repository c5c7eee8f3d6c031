"""What sizes were sought for in vain; whoever asks as much again, and maybe more, is told so at once.

Most of what a run asks follows from the rest of it: sizes that break it do not exist, and a search that ends
without any takes ten times as long as one that finds some. Of 2,270 sets of conditions of four families for
which none were found, some were found for six at another time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from forwardbook.formula import Condition

Sizes = dict[str, int]

Asked = frozenset[str | tuple[str, int]]
"""Conditions as they are written, and near which sizes others were sought that meet them."""


@dataclass
class Fruitless:
    """Conditions for which no sizes were found."""

    asked: list[Asked] = field(default_factory=list)

    def sought(
        self,
        near: Mapping[str, int],
        conditions: Sequence[Condition],
        find: Callable[[], Sizes | None],
        fixed: Mapping[str, int] | None = None,
    ) -> Sizes | None:
        """What `find` finds; None without asking it where these conditions, or fewer, were asked in vain."""
        held = [Condition.that_is(name, size) for name, size in (fixed or {}).items()]
        names = {name for c in conditions for name in c.symbols()}
        asked: Asked = frozenset(
            [*(c.text() for c in (*conditions, *held)), *((name, near[name]) for name in names & near.keys())]
        )
        if any(less <= asked for less in self.asked):
            return None
        found = find()
        if found is None:
            self.asked.append(asked)
        return found

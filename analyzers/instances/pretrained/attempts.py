"""A model that refuses its inputs in; out what to try next: its config mended, then other inputs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from forwardbook.analyzers.instances.pretrained.asked import Asking, asking, errors_of
from forwardbook.analyzers.instances.pretrained.fitted import fitted, mended_more
from forwardbook.analyzers.instances.pretrained.inputs import Plan, plans
from forwardbook.analyzers.instances.pretrained.mended import built
from forwardbook.analyzers.instances.pretrained.models import Holder

MENDS = 6
"""Times that a model's config is mended after what its forward() raises: lists of widths have five."""


def attempts(holder: Holder) -> Iterator[tuple[Holder, Plan | None]]:
    """The model with one more field mended each time, then with inputs that its errors ask for."""
    for _ in range(MENDS):
        holder, model = built(holder)
        first = plans(model)
        more = mended_more(model, errors_of(model, first))
        done = Asking([], [])
        if not _news(holder, more):
            done = asking(model, first)
            if done.found or not done.ends:
                yield from ((holder, plan) for plan in done.found)
                return
            more = mended_more(model, (error for _, error in done.ends))
        if not _news(holder, more):
            more = fitted(holder, max(done.ends, key=lambda end: end[0]))
        if not more:
            return
        holder = replace(holder, mends={**holder.mends, **more})
        yield holder, None


def _news(holder: Holder, more: dict[str, object]) -> bool:
    """Whether anything is mended that was not before."""
    return bool(set(more) - set(holder.mends))

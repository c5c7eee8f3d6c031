"""What a worker of a reproof says of one entry, without a process of its own."""

from __future__ import annotations

from collections.abc import Callable

from forwardbook.pipeline.child.request import Request, Response
from forwardbook.pipeline.reprove.again import AGAIN, EntryAgain
from forwardbook.pipeline.reprove.work import work
from forwardbook.schema import Entry


def again(entry: Entry, scale: int = 10, worker: Callable[[Request], Response] = work) -> EntryAgain:
    """What measuring says of an entry."""
    request = Request(
        target=entry.full_class_name,
        seed=3,
        scale=scale,
        budget=120,
        stored={"key": entry.model_dump(mode="json")},
    )
    [found] = worker(request).diagnostics[AGAIN]  # type: ignore[union-attr,misc]
    return EntryAgain.model_validate(found)

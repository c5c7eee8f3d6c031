"""What a worker of a reproof says of entries, without a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from forwardbook.pipeline.child.request import Request, Response
from forwardbook.pipeline.reprove.again import AGAIN, EntryAgain
from forwardbook.pipeline.reprove.work import work
from forwardbook.schema import Entry


def again(entry: Entry, scale: int = 10, worker: Callable[[Request], Response] = work) -> EntryAgain:
    """What measuring says of an entry."""
    [found] = all_again([entry], scale, worker)
    return found


def all_again(
    entries: Sequence[Entry], scale: int = 10, worker: Callable[[Request], Response] = work
) -> list[EntryAgain]:
    """What measuring says of entries that have their runs in common."""
    request = Request(
        target=entries[0].full_class_name,
        seed=3,
        scale=scale,
        budget=120,
        stored={str(place): entry.model_dump(mode="json") for place, entry in enumerate(entries)},
    )
    found = worker(request).diagnostics[AGAIN]
    return [EntryAgain.model_validate(one) for one in cast("list[object]", found)]

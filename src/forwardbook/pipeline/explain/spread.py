"""Planned pages in, the pages as they are ready out: made here, in several processes, or by a cluster.

Processes of this machine have the press already; each worker of a cluster reads the sources itself, once,
from the same folder. The pages are then written here.
"""

from __future__ import annotations

import hashlib
import pickle
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from forwardbook.errors import ForwardbookError
from forwardbook.pipeline.explain.plan import Planned
from forwardbook.pipeline.explain.render import Press, Rendered
from forwardbook.pipeline.explain.sources import Resolver, read_sources
from forwardbook.pipeline.explain.state import content_of, own_pages
from forwardbook.pipeline.spread import ClusterError, Spread
from forwardbook.workspace.source_tree import source_tree


@dataclass(frozen=True, slots=True)
class Frame:
    """A press without its sources, and what these must be; another machine makes the press of it."""

    press: bytes
    content: str
    resolver: Resolver

    def __hash__(self) -> int:
        return int.from_bytes(hashlib.sha256(self.press + self.content.encode()).digest()[:8], "big") >> 4


@dataclass(frozen=True, slots=True)
class Order:
    """One page to make; `frame` is None where the press is at hand."""

    planned: Planned
    frame: Frame | None = None


@dataclass(frozen=True, slots=True)
class Made:
    """The page, or why it could not be made."""

    rendered: Rendered | None = None
    problem: str = ""


_AT_HAND: list[Press] = []
"""The press of this process, and of those that are forked from it."""


def rendered(
    spread: Spread, press: Press, pages: tuple[Planned, ...], resolver: Resolver
) -> Iterator[Rendered]:
    """Each page as soon as it is ready.

    Raises:
        ClusterError: where the cluster does not answer, or a worker does not see the same sources.
        ForwardbookError: where a page cannot be made.
    """
    frame = _frame(press, resolver) if spread.cluster else None
    if spread.divides(len(pages)) and frame is None:
        press.prepare()
    _AT_HAND[:] = [press]
    try:
        for made in spread(make, [Order(one, frame) for one in pages]):
            if made.rendered is None:
                where = f"explaining on {spread.cluster}: " if spread.cluster else ""
                raise (ClusterError if spread.cluster else ForwardbookError)(f"{where}{made.problem}")
            yield made.rendered
    finally:
        _AT_HAND.clear()


def make(order: Order) -> Made:
    """The page of an order; a problem is told, not raised."""
    try:
        press = _AT_HAND[0] if order.frame is None else _press(order.frame)
        return Made(press.render(order.planned))
    except ForwardbookError as error:
        return Made(problem=str(error))
    except Exception as error:  # noqa: BLE001 - whoever waits for a worker would wait for ever
        what = f"{order.planned.name}: {type(error).__name__}: {error}; report this"
        return Made(problem=f"{what}\n{traceback.format_exc()}")


def _frame(press: Press, resolver: Resolver) -> Frame:
    parts = (press.target, press.plan, press.out, press.checklist, press.prose, press.lacking)
    return Frame(pickle.dumps(parts), content_of(press.sources.repository, "", ""), resolver)


@lru_cache(maxsize=1)
def _press(frame: Frame) -> Press:
    target, plan, out, checklist, prose, lacking = pickle.loads(frame.press)
    tree = source_tree(target.root, target.folders)
    sources = read_sources(tree, own_pages(tree, out), frame.resolver, 1)
    if content_of(sources.repository, "", "") != frame.content:
        raise ClusterError(
            f"the sources under {target.root} are not the same where this worker runs; "
            "give it the same folder, or explain with --jobs on one machine"
        )
    return Press(target, plan, sources, out, checklist, {}, prose, lacking)

"""Planned pages in, the same pages as this process would make them out, made by the workers of a cluster.

Each worker reads the sources itself, once, from the same folder; the pages are then written here.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from forwardbook.errors import ForwardbookError
from forwardbook.pipeline.explain_plan import Planned
from forwardbook.pipeline.explain_render import Press, Rendered
from forwardbook.pipeline.explain_sources import Resolver, read_sources
from forwardbook.pipeline.explain_state import content_of, own_pages
from forwardbook.pipeline.spread import ClusterError, Spread
from forwardbook.workspace.source_tree import source_tree


@dataclass(frozen=True, slots=True)
class Order:
    """One page to make: the press without its sources, what these must be, and the page."""

    press: bytes
    content: str
    resolver: Resolver
    planned: Planned


@dataclass(frozen=True, slots=True)
class Made:
    """The page, or why it could not be made."""

    rendered: Rendered | None = None
    problem: str = ""


def rendered_on(
    cluster: str, press: Press, pages: tuple[Planned, ...], resolver: Resolver
) -> Iterator[Rendered]:
    """Each page as soon as it is ready.

    Raises:
        ClusterError: where the cluster does not answer, or a worker does not see the same sources.
    """
    frame = pickle.dumps((press.target, press.plan, press.out, press.checklist, press.prose, press.lacking))
    content = content_of(press.sources.repository, "", "")
    for made in Spread(cluster=cluster)(make, [Order(frame, content, resolver, one) for one in pages]):
        if made.rendered is None:
            raise ClusterError(f"explaining on {cluster}: {made.problem}")
        yield made.rendered


def make(order: Order) -> Made:
    """The page of an order; a problem is told, not raised."""
    try:
        return Made(_press(_Frame(order.press, order.content, order.resolver)).render(order.planned))
    except ForwardbookError as error:
        return Made(problem=str(error))
    except Exception as error:  # noqa: BLE001 - whoever waits for a worker would wait for ever
        return Made(problem=f"{order.planned.name}: {type(error).__name__}: {error}; report this")


@dataclass(frozen=True, slots=True)
class _Frame:
    press: bytes
    content: str
    resolver: Resolver

    def __hash__(self) -> int:
        return int.from_bytes(hashlib.sha256(self.press + self.content.encode()).digest()[:8], "big") >> 4


@lru_cache(maxsize=1)
def _press(frame: _Frame) -> Press:
    target, plan, out, checklist, prose, lacking = pickle.loads(frame.press)
    tree = source_tree(target.root, target.folders)
    sources = read_sources(tree, own_pages(tree, out), frame.resolver, 1)
    if content_of(sources.repository, "", "") != frame.content:
        raise ClusterError(
            f"the sources under {target.root} are not the same where this worker runs; "
            "give it the same folder, or explain with --jobs on one machine"
        )
    return Press(target, plan, sources, out, checklist, {}, prose, lacking)

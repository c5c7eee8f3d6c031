"""A request for pages in; what a writer would be sent for each, and what it could cost, out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from forwardbook.pipeline.explain.pages import Request, prepared

if TYPE_CHECKING:
    from forwardbook.agents.choose import Chosen
    from forwardbook.agents.requests import Preview


def prompts(request: Request, chosen: Chosen) -> Iterator[tuple[str, Preview]]:
    """The name of each page that would get prose, with its first request."""
    from forwardbook.pipeline.agent.pages import previews
    from forwardbook.pipeline.explain.plan import plan
    from forwardbook.pipeline.explain.render import Press
    from forwardbook.pipeline.explain.sources import read_sources
    from forwardbook.pipeline.explain.state import own_pages
    from forwardbook.pipeline.explain.write import subjects
    from forwardbook.workspace.source_tree import source_tree

    run = prepared(request, lambda doing, done, total: None)
    tree = source_tree(run.target.root, run.target.folders)
    sources = read_sources(tree, own_pages(tree, run.out), request.resolver, request.jobs)
    planned = plan(run.target, sources.repository, request.focus, subjects(run.out))
    press = Press(run.target, planned, sources, run.out, run.checklist)
    yield from previews(press, planned.pages, chosen)
    if request.review:
        from forwardbook.pipeline.agent.review import previews as of_reviews

        yield from of_reviews(press, planned.pages, chosen)

"""Paths and options in; pages whose claims were all held against the source, and a report, out."""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from forwardbook.pipeline.explain.run import Run, Told, bring_up_to_date
from forwardbook.pipeline.explain.target import TargetError, default_out, find_target
from forwardbook.pipeline.explain.write import PageResult

if TYPE_CHECKING:
    from forwardbook.agents.choose import Chosen
    from forwardbook.pipeline.explain.sources import Resolver


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked: the options of the command."""

    paths: tuple[Path, ...]
    out: Path | None = None
    repository: bool = False
    focus: str = ""
    requirements: Path | None = None
    feature: str = ""
    root: Path | None = None
    resolver: Resolver = "own"
    jobs: int = 1
    check: bool = False
    force: bool = False
    chosen: Chosen | None = None
    """Who writes prose; by default nobody."""
    review: bool = False
    """Whether he also reads the finished pages and lists doubts."""
    cluster: str = ""
    """The address of a Dask scheduler whose workers make the pages."""


@dataclass(frozen=True, slots=True)
class Report:
    """What became of the pages, what could not be read, and one sentence about it all."""

    pages: tuple[PageResult, ...]
    problems: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def failed(self) -> bool:
        """Whether a page is not as it should be."""
        return any(page.failed for page in self.pages)

    @property
    def left_out(self) -> int:
        """How many statements the pages do not make, because the source does not support them."""
        return sum(len(page.left_out) for page in self.pages)

    @property
    def closing(self) -> str:
        """How many pages came out how, and how long it took."""
        counts: dict[str, int] = {}
        for page in self.pages:
            counts[page.outcome] = counts.get(page.outcome, 0) + 1
        told = ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
        left_out = f"; {self.left_out} statements left out" if self.left_out else ""
        return f"{len(self.pages)} pages: {told}{left_out}; {self.seconds:.1f} s"


def explain(request: Request, told: Told = lambda doing, done, total: None) -> Report:
    """Write the pages of a target; what did not change since the last run is neither read nor written."""
    start = time.perf_counter()
    run = prepared(request, told)
    with _uncollected():
        problems = bring_up_to_date(run)
    order = sorted(run.results.values(), key=lambda page: page.name)
    return Report(tuple(order), problems, time.perf_counter() - start)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Facts are many and form no cycles: looking for some would take a tenth of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def prepared(request: Request, told: Told) -> Run:
    """The target, the folder of pages and the checklist of a request."""
    target = find_target(
        request.paths,
        root=request.root,
        repository=request.repository or bool(request.focus),
        feature=request.feature,
    )
    out = (request.out or default_out()).absolute()
    if out.exists() and not out.is_dir():
        raise TargetError(f"explaining into {out}: it is a file. Give a folder with --out")
    return Run(
        target,
        out,
        told,
        _checklist(request.requirements),
        request.focus,
        request.resolver,
        request.jobs,
        request.check,
        request.force,
        request.chosen,
        request.review,
        request.cluster,
    )


def _checklist(path: Path | None) -> str | None:
    if path is None:
        return None
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise TargetError(f"reading the requirements {path}: {why}. Give a Markdown file") from error


def facts_json(request: Request) -> Iterator[str]:
    """The facts of a target as the pieces of one JSON value."""
    from forwardbook.book.repository.survey import is_below
    from forwardbook.pipeline.explain.sources import read_sources
    from forwardbook.pipeline.explain.state import own_pages
    from forwardbook.workspace.source_tree import source_tree

    run = prepared(request, lambda doing, done, total: None)
    tree = source_tree(run.target.root, run.target.folders)
    sources = read_sources(tree, own_pages(tree, run.out), request.resolver, request.jobs)
    head = {
        "root": str(tree.root),
        "kind": run.target.kind,
        "paths": list(run.target.paths),
        "skipped": [{"path": path, "why": why} for path, why in sources.repository.skipped],
    }
    yield json.dumps(head)[:-1] + ', "files": ['
    first = True
    for path, facts in sources.repository.files.items():
        if any(is_below(path, wanted) for wanted in run.target.paths):
            edges = [
                asdict(edge)
                for caller in ("", *dict.fromkeys(each.qualname for each in facts.definitions))
                for edge in sources.graph.edges_from(path, caller)
            ]
            text = json.dumps({**asdict(facts), "edges": edges})
            yield text if first else f",{text}"
            first = False
    yield "]}"

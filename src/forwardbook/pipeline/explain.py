"""Paths and options in; pages whose claims were all held against the source, and a report, out."""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from forwardbook.pipeline.explain_target import Target, TargetError, default_out, find_target
from forwardbook.pipeline.explain_write import PageResult, remove, settle, subjects
from forwardbook.workspace.run_record import RunRecord, load_record, save_record

if TYPE_CHECKING:
    from forwardbook.pipeline.explain_plan import Planned
    from forwardbook.pipeline.explain_render import Press, Rendered
    from forwardbook.pipeline.explain_sources import Resolver, Sources
    from forwardbook.workspace.source_tree import SourceTree

Told = Callable[[str, int, int], None]
"""Takes what is being done, and how much of how many is."""

SAVE_SECONDS: Final = 2.0


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
    def closing(self) -> str:
        """How many pages came out how, and how long it took."""
        counts: dict[str, int] = {}
        for page in self.pages:
            counts[page.outcome] = counts.get(page.outcome, 0) + 1
        told = ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
        return f"{len(self.pages)} pages: {told}; {self.seconds:.1f} s"


@dataclass
class _Run:
    """One run over a target."""

    request: Request
    target: Target
    out: Path
    told: Told
    checklist: str | None
    results: dict[str, PageResult] = field(default_factory=dict)

    @property
    def asked(self) -> list[object]:
        """What the pages depend on beside the sources."""
        target = self.target
        one = self.request
        return [target.kind, list(target.paths), target.name, one.focus, self.checklist, one.resolver]

    @property
    def subject(self) -> str:
        """What a record is kept under."""
        return json.dumps([str(self.target.root), str(self.out), self.target.kind, list(self.target.paths)])


def explain(request: Request, told: Told = lambda doing, done, total: None) -> Report:
    """Write the pages of a target; what did not change since the last run is neither read nor written."""
    start = time.perf_counter()
    run = _prepared(request, told)
    with _uncollected():
        problems = _pages(run)
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


def _prepared(request: Request, told: Told) -> _Run:
    target = find_target(
        request.paths,
        root=request.root,
        repository=request.repository or bool(request.focus),
        feature=request.feature,
    )
    out = (request.out or default_out()).absolute()
    if out.exists() and not out.is_dir():
        raise TargetError(f"explaining into {out}: it is a file. Give a folder with --out")
    return _Run(request, target, out, told, _checklist(request.requirements))


def _checklist(path: Path | None) -> str | None:
    if path is None:
        return None
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise TargetError(f"reading the requirements {path}: {why}. Give a Markdown file") from error


def _pages(run: _Run) -> tuple[str, ...]:
    """Bring all pages up to date; the lines about what could not be read."""
    from forwardbook.pipeline.explain_state import own_pages, stamp_of
    from forwardbook.workspace.source_tree import source_tree

    run.told("reading", 0, 0)
    tree = source_tree(run.target.root, run.target.folders)
    pages = own_pages(tree, run.out)
    stamp = stamp_of(tree, run.asked, pages)
    record = load_record(run.subject)
    if record.is_complete and record.stamp == stamp and _intact(run, record):
        for name, figures in record.told.items():
            _note(run, name, "unchanged", figures)
        return record.problems
    return _written(run, tree, pages, replace(record, stamp=stamp))


def _intact(run: _Run, record: RunRecord) -> bool:
    """Whether every page is on disk as it was left."""
    return all(_marks(run.out / name) == marks for name, marks in record.seen.items())


def _marks(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _written(run: _Run, tree: SourceTree, pages: frozenset[str], record: RunRecord) -> tuple[str, ...]:
    from forwardbook.pipeline.explain_plan import plan
    from forwardbook.pipeline.explain_render import Press
    from forwardbook.pipeline.explain_sources import read_sources
    from forwardbook.pipeline.explain_state import content_of, head_of

    sources = read_sources(tree, pages, run.request.resolver, run.request.jobs)
    content = content_of(sources.repository, run.asked, head_of(tree.root))
    if record.content != content:
        record = RunRecord(record.stamp, content, pages=record.pages)
    planned = plan(run.target, sources.repository, run.request.focus, subjects(run.out))
    problems = tuple(_problems(run, sources))
    press = Press(run.target, planned, sources, run.out, run.checklist)
    gone = set(record.pages) - {page.name for page in planned.pages}
    keeper = _Keeper(run, replace(record, is_complete=False, problems=problems))
    try:
        _render_all(run, press, keeper)
        for name in sorted(gone):
            outcome = remove(run.out / name, check=run.request.check)
            if outcome is not None:
                _note(run, name, outcome[0], wrong=(outcome[1],) if outcome[1] else ())
    finally:
        keeper.save(complete=False)
    keeper.save(complete=not any(page.failed for page in run.results.values()))
    return problems


class _Keeper:
    """Keeps the record of a run while it goes on, so that an interrupted one can be resumed."""

    def __init__(self, run: _Run, record: RunRecord) -> None:
        self._run = run
        self._record = record
        self._pages: dict[str, str] = {}
        self._saved = time.monotonic()

    def is_done(self, name: str) -> bool:
        """Whether a page was written in this very state and still is as it was left."""
        seen = self._record.seen.get(name)
        return seen is not None and _marks(self._run.out / name) == seen

    def keep(self, name: str) -> None:
        """Take up a page that is as it should be."""
        marks = _marks(self._run.out / name)
        result = self._run.results[name]
        if marks is None or result.failed:
            return
        self._record.seen[name] = marks
        self._record.told[name] = result.figures
        self._record.pages[name] = result.digest
        if time.monotonic() - self._saved > SAVE_SECONDS:
            self.save(complete=False)

    def save(self, *, complete: bool) -> None:
        """Put the record down, unless nothing is to be written."""
        self._saved = time.monotonic()
        if not self._run.request.check:
            save_record(self._run.subject, replace(self._record, is_complete=complete))


def _render_all(run: _Run, press: Press, keeper: _Keeper) -> None:
    """Render what is not done yet: first the pages of files, then those that tell of others."""
    from forwardbook.pipeline.explain_render import rendered

    pages = press.plan.pages
    whole = run.target.kind == "repository"
    open_ = [page for page in pages if not keeper.is_done(page.name)]
    first = tuple(page for page in pages if page.kind != "index" and (page in open_ or (whole and open_)))
    for page in pages:
        if page not in open_ and not (whole and open_):
            _note(run, page.name, "unchanged", keeper_told(keeper, page))
    total = len(first) + (whole and bool(open_))
    for count, each in enumerate(rendered(press, first, run.request.jobs), 1):
        _settle(run, press, each, keeper)
        run.told(each.planned.name, count, total)
    for page in pages:
        if page.kind == "index" and open_:
            _settle(run, press, press.render(page), keeper)


def keeper_told(keeper: _Keeper, page: Planned) -> str:
    """The figures of a page that is done."""
    return keeper._record.told.get(page.name, "")


def _settle(run: _Run, press: Press, each: Rendered, keeper: _Keeper) -> None:
    """Write one page, unless a claim of it is contradicted."""
    name = each.planned.name
    figures = f"  {each.supported} claims hold, {each.unverified} cannot be told"
    if each.wrong:
        _note(run, name, "contradicted", figures, each.wrong)
        return
    outcome, why = settle(run.out / name, each.markdown, force=run.request.force, check=run.request.check)
    _note(run, name, outcome, figures, (why,) if why else ())
    press.done[name] = each.written
    keeper.keep(name)


def _note(run: _Run, name: str, outcome: str, figures: str = "", wrong: tuple[str, ...] = ()) -> None:
    run.results[name] = PageResult(name, str(run.out / name), outcome, figures, wrong)


def _problems(run: _Run, sources: Sources) -> Iterator[str]:
    """What could not be read, a line each."""
    from forwardbook.book.repository.survey import is_below

    wanted = run.target.paths
    for path, facts in sources.repository.files.items():
        if any(is_below(path, each) for each in wanted):
            for problem in facts.problems:
                yield f"{path}{f':{problem.line}' if problem.line else ''}: {problem.what}"
    yield from (f"{path}: {why}" for path, why in sources.repository.skipped)


def facts_json(request: Request) -> Iterator[str]:
    """The facts of a target as the pieces of one JSON value."""
    from forwardbook.book.repository.survey import is_below
    from forwardbook.pipeline.explain_sources import read_sources
    from forwardbook.pipeline.explain_state import own_pages
    from forwardbook.workspace.source_tree import source_tree

    run = _prepared(request, lambda doing, done, total: None)
    tree = source_tree(run.target.root, run.target.folders)
    sources = read_sources(tree, own_pages(tree, run.out), request.resolver, request.jobs)
    head = {
        "root": str(tree.root),
        "kind": run.target.kind,
        "paths": list(run.target.paths),
        "skipped": [{"path": path, "why": why} for path, why in sources.repository.skipped],
    }
    yield json.dumps(head, ensure_ascii=False)[:-1] + ', "files": ['
    first = True
    for path, facts in sources.repository.files.items():
        if any(is_below(path, wanted) for wanted in run.target.paths):
            edges = [
                asdict(edge)
                for caller in ("", *dict.fromkeys(each.qualname for each in facts.definitions))
                for edge in sources.graph.edges_from(path, caller)
            ]
            text = json.dumps({**asdict(facts), "edges": edges}, ensure_ascii=False)
            yield text if first else f",{text}"
            first = False
    yield "]}"

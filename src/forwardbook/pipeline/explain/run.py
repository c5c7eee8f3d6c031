"""One run over a target: its pages brought up to date on disk, and what became of each, out."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from forwardbook.pipeline.explain.state import content_of, head_of, own_pages, stamp_of
from forwardbook.pipeline.explain.target import Target
from forwardbook.pipeline.explain.write import Outcome, PageResult, remove, settle, subjects
from forwardbook.workspace.run_record import RunRecord, load_record, save_record
from forwardbook.workspace.source_tree import SourceTree, source_tree

if TYPE_CHECKING:
    from forwardbook.agents.choose import Chosen
    from forwardbook.pipeline.explain.render import Press, Rendered
    from forwardbook.pipeline.explain.sources import Resolver, Sources

Told = Callable[[str, int, int], None]
"""Takes what is being done, and how much of how many is."""

SAVE_SECONDS: Final = 2.0
"""How often the record is put down while pages are written."""


@dataclass
class Run:
    """What is wanted of one run, and what became of the pages so far."""

    target: Target
    out: Path
    told: Told
    checklist: str | None = None
    focus: str = ""
    resolver: Resolver = "own"
    jobs: int = 1
    check: bool = False
    force: bool = False
    chosen: Chosen | None = None
    review: bool = False
    cluster: str = ""
    results: dict[str, PageResult] = field(default_factory=dict)

    @property
    def asked(self) -> list[object]:
        """What the pages depend on beside the sources."""
        target = self.target
        writer = [] if self.chosen is None else [self.chosen.analyst.model]
        writer += ["reviewed"] if self.review else []
        known = (target.kind, list(target.paths), target.name, self.focus, self.checklist, self.resolver)
        return [*known, *writer]

    @property
    def subject(self) -> str:
        """What the record of such runs is kept under."""
        return json.dumps([str(self.target.root), str(self.out), self.target.kind, list(self.target.paths)])

    def note(
        self,
        name: str,
        outcome: Outcome,
        figures: str = "",
        wrong: tuple[str, ...] = (),
        left_out: tuple[str, ...] = (),
    ) -> None:
        """Take down what became of a page."""
        self.results[name] = PageResult(name, str(self.out / name), outcome, figures, wrong, left_out)


class Keeper:
    """Keeps the record of a run while it goes on, so that an interrupted one can be resumed."""

    def __init__(self, run: Run, record: RunRecord) -> None:
        self._run = run
        self._record = record
        self._saved = time.monotonic()

    def is_done(self, name: str) -> bool:
        """Whether a page was written in this very state and still is as it was left."""
        marks = self._record.seen.get(name)
        return marks is not None and _marks(self._run.out / name) == marks

    def note_unchanged(self, name: str) -> None:
        """Take down a page that is done, with what was told of it."""
        _note_unchanged(self._run, name, self._record)

    def keep(self, name: str) -> None:
        """Take up a page that is as it should be."""
        marks = _marks(self._run.out / name)
        result = self._run.results[name]
        if marks is None or result.failed:
            return
        self._record.seen[name] = marks
        self._record.told[name] = result.figures
        self._record.left_out[name] = result.left_out
        if time.monotonic() - self._saved > SAVE_SECONDS:
            self.save(complete=False)

    def tell(self, problems: tuple[str, ...]) -> None:
        """Keep lines about the run, for the next one that finds nothing to do."""
        self._record = replace(self._record, problems=problems)

    def save(self, *, complete: bool) -> None:
        """Put the record down, unless nothing is to be written."""
        self._saved = time.monotonic()
        if not self._run.check:
            save_record(self._run.subject, replace(self._record, is_complete=complete))


def bring_up_to_date(run: Run) -> tuple[str, ...]:
    """Write the pages that are not as they should be; the lines about what could not be read."""
    run.told("reading", 0, 0)
    tree = source_tree(run.target.root, run.target.folders)
    pages = own_pages(tree, run.out)
    stamp = stamp_of(tree, run.asked, pages)
    record = load_record(run.subject)
    if record.is_complete and record.stamp == stamp and _is_intact(run, record):
        for name in record.told:
            _note_unchanged(run, name, record)
        return record.problems
    return _write(run, tree, pages, replace(record, stamp=stamp))


def _note_unchanged(run: Run, name: str, record: RunRecord) -> None:
    left_out = record.left_out.get(name, ())
    run.note(name, "unchanged", record.told.get(name, ""), left_out=left_out)


def _is_intact(run: Run, record: RunRecord) -> bool:
    return all(_marks(run.out / name) == marks for name, marks in record.seen.items())


def _marks(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _write(run: Run, tree: SourceTree, pages: frozenset[str], record: RunRecord) -> tuple[str, ...]:
    from forwardbook.pipeline.explain.plan import plan
    from forwardbook.pipeline.explain.render import Press
    from forwardbook.pipeline.explain.sources import read_sources

    sources = read_sources(tree, pages, run.resolver, run.jobs)
    content = content_of(sources.repository, run.asked, head_of(tree.root))
    before = set(record.seen)
    if record.content != content:
        record = RunRecord(record.stamp, content)
    planned = plan(run.target, sources.repository, run.focus, subjects(run.out))
    problems = tuple(_problems(run, sources))
    press = Press(run.target, planned, sources, run.out, run.checklist)
    keeper = Keeper(run, replace(record, is_complete=False, problems=problems))
    if run.chosen is not None:
        from forwardbook.pipeline.agent.pages import prose

        asked = [page for page in planned.pages if not keeper.is_done(page.name)]
        problems = (*problems, *prose(press, asked, run.chosen))
    try:
        _render_all(run, press, keeper)
        if run.chosen is not None and run.review:
            from forwardbook.pipeline.agent.review import doubts

            problems = (*problems, *doubts(press, planned.pages, run.chosen))
            keeper.tell(problems)
        for name in sorted(before - {page.name for page in planned.pages}):
            _remove(run, name)
    finally:
        keeper.save(complete=False)
    keeper.save(complete=not press.lacking and not any(page.failed for page in run.results.values()))
    return problems


def _render_all(run: Run, press: Press, keeper: Keeper) -> None:
    """Render what is not done yet: first what stands alone, then the index, which tells of the others."""
    from forwardbook.pipeline.explain.spread import rendered
    from forwardbook.pipeline.spread import Spread

    pages = press.plan.pages
    open_ = {page.name for page in pages if not keeper.is_done(page.name)}
    if open_ and run.target.kind == "repository":
        open_ = {page.name for page in pages}
    for page in pages:
        if page.name not in open_:
            keeper.note_unchanged(page.name)
    first = tuple(page for page in pages if page.name in open_ and page.kind != "index")
    spread = Spread(run.jobs, run.cluster, processes=True)
    for count, each in enumerate(rendered(spread, press, first, run.resolver), 1):
        _settle(run, press, each, keeper)
        run.told(each.planned.name, count, len(open_))
    for page in pages:
        if page.name in open_ and page.kind == "index":
            _settle(run, press, press.render(page), keeper)


def _settle(run: Run, press: Press, each: Rendered, keeper: Keeper) -> None:
    """Write one page."""
    name = each.planned.name
    figures = f"  {each.supported} claims hold, {each.unverified} cannot be told"
    if each.left_out:
        figures += f", {len(each.left_out)} left out"
    outcome, why = settle(run.out / name, each.markdown, force=run.force, check=run.check)
    run.note(name, outcome, figures, (why,) if why else (), each.left_out)
    press.done[name] = each.written
    if name not in press.lacking:
        keeper.keep(name)


def _remove(run: Run, name: str) -> None:
    """Take away the page of a file that is gone."""
    found = remove(run.out / name, check=run.check)
    if found is not None:
        outcome, why = found
        run.note(name, outcome, wrong=(why,) if why else ())


def _problems(run: Run, sources: Sources) -> Iterator[str]:
    """What could not be read, a line each."""
    from forwardbook.book.repository.survey import is_below

    wanted = run.target.paths
    for path, facts in sources.repository.files.items():
        if any(is_below(path, each) for each in wanted):
            for problem in facts.problems:
                yield f"{path}{f':{problem.line}' if problem.line else ''}: {problem.what}"
    for path, why in sources.repository.skipped:
        if any(is_below(path, each) for each in wanted):
            yield f"{path}: {why}"

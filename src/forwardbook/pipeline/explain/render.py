"""One planned page in, its Markdown and the verdict on its claims out."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from forwardbook.book.blocks import Paragraph, markdown
from forwardbook.book.left_out import without
from forwardbook.book.page import Page, Value
from forwardbook.book.repository.checks import Written
from forwardbook.book.repository.components import components
from forwardbook.book.repository.index import index
from forwardbook.book.repository.overview import overview
from forwardbook.book.repository.project import read_project
from forwardbook.book.repository.quick import quick_reference
from forwardbook.book.repository.readme import readme
from forwardbook.book.repository.reference import reference
from forwardbook.book.repository.structure import structure
from forwardbook.book.repository.survey import Survey
from forwardbook.book.verify import Claim, Verifier
from forwardbook.book.verify import Sources as Held
from forwardbook.errors import ForwardbookError
from forwardbook.pipeline.explain.diagram_verdicts import kept_grammar
from forwardbook.pipeline.explain.plan import Plan, Planned
from forwardbook.pipeline.explain.sources import Sources
from forwardbook.pipeline.explain.target import Target
from forwardbook.workspace.history import Change, last_changes

if TYPE_CHECKING:
    from forwardbook.book.blocks import Block
    from forwardbook.book.pages.context import Around

_LINES_OF: Final = re.compile(r"`([^`\n]+):\d")


@dataclass(frozen=True, slots=True)
class Rendered:
    """A page as it is written, what came of its claims, and what it does not state (`left_out`: and why)."""

    planned: Planned
    markdown: str
    supported: int
    unverified: int
    left_out: tuple[str, ...] = ()

    @property
    def written(self) -> Written:
        """What the index says of the page."""
        return Written(self.planned.name, self.markdown, self.supported, self.unverified, len(self.left_out))


@dataclass(frozen=True)
class Press:
    """All that writing a page needs."""

    target: Target
    plan: Plan
    sources: Sources
    out: Path
    checklist: str | None = None
    done: dict[str, Written] = field(default_factory=dict)
    """The pages that are written already, which the index tells of."""
    prose: dict[str, tuple[Block, ...]] = field(default_factory=dict)
    """What a writer adds at the end of a page."""
    lacking: set[str] = field(default_factory=set)
    """Pages for which a writer was asked in vain; the next run asks again."""

    def render(self, planned: Planned) -> Rendered:
        """The page, its claims held against the sources."""
        page = self.page(planned)
        page = replace(page, blocks=(*page.blocks, *self.prose.get(planned.name, ())))
        page, claims, left_out = self._held(page)
        supported = sum(each.state == "supported" for each in claims)
        open_ = sum(each.state == "unverified" for each in claims)
        said = f"Claims of this page: {supported} hold, {open_} cannot be told from the source."
        if left_out:
            said += f" Left out, because the source does not support them: {len(left_out)}."
        front = {**page.front_matter, "supported": supported, "unverified": open_}
        whole = replace(page, front_matter=front, blocks=(*page.blocks, Paragraph(said)))
        return Rendered(planned, whole.markdown(), supported, open_, left_out)

    def _held(self, page: Page) -> tuple[Page, tuple[Claim, ...], tuple[str, ...]]:
        """The page without statements that its sources contradict, its claims, and what was left out.

        What is taken away may be what another statement leads to, so the rest is judged again.
        """
        left_out: dict[str, None] = {}
        while True:
            claims = self.verifier.verify(page.markdown(), self.place(page.name))
            wrong = [each for each in claims if each.state in ("contradicted", "stale")]
            shorter = without(page, {each.line for each in wrong})
            if not wrong or shorter.blocks == page.blocks:
                return page, claims, tuple(left_out)
            left_out |= dict.fromkeys(map(_shown, wrong))
            page = shorter

    def prepare(self) -> None:
        """Find what all pages share, so that forked processes need not each find it."""
        _ = self.survey, self._changes, self._costs, self._around

    def page(self, planned: Planned) -> Page:
        """The page as the facts give it."""
        if planned.kind == "file":
            return self._file_page(planned)
        survey = self.survey
        match planned.kind:
            case "readme":
                blocks = readme(survey)
            case "structure":
                blocks = structure(survey)
            case "summary":
                blocks = reference(survey)
            case "quick":
                blocks = quick_reference(survey)
            case "index":
                blocks = index(survey, self.done, self.checklist)
            case "overview":
                blocks = overview(survey, self.plan.of_files)
            case _:
                files = tuple(self.sources.repository.files[path] for path in self.plan.of_files)
                blocks = components(survey, self.target.name, files, self.plan.of_files)
        front: dict[str, Value] = {
            "subject": planned.subject or self.target.name,
            "generator": "forwardbook explain",
            "sources": self._cited(markdown(blocks)),
        }
        return Page(planned.name, front, blocks)

    def _cited(self, text: str) -> dict[str, str]:
        """The files whose lines a text names, with the beginnings of their digests."""
        files = self.sources.repository.files
        named = sorted(path for path in set(_LINES_OF.findall(text)) if path in files)
        return {path: files[path].digest[:16] for path in named}

    def _file_page(self, planned: Planned) -> Page:
        from forwardbook.book.pages import Context, file_page

        path, repository = planned.subject, self.sources.repository
        change = self._changes.get(path)
        context = Context(
            repository,
            updated=change.date if change else "",
            commit=change.commit if change else "",
            pages=self.plan.of_files,
            read=self.sources.read,
            costs=self._costs,
            formula_pages=self._formula_pages,
            shared=self._around,
        )
        data = self.sources.read(path) or b""
        return file_page(path, data, repository.files[path], self.sources.graph, context)

    @cached_property
    def _around(self) -> Around:
        from forwardbook.book.pages.context import Around

        return Around(self.sources.repository, self.sources.read)

    @cached_property
    def _changes(self) -> dict[str, Change]:
        return last_changes(self.sources.tree.root, self.plan.of_files.keys())

    @cached_property
    def _formula_pages(self) -> frozenset[str]:
        """Of those classes the ones whose formula page lies beside the pages."""
        return frozenset(key for key in self._costs if (self.out / "modules" / f"{key}.md").is_file())

    @cached_property
    def _costs(self) -> frozenset[str]:
        """The classes that the module database knows, where the sources have to do with torch at all."""
        from forwardbook.workspace import Workspace  # it loads the schema of the database

        files = self.sources.repository.files.values()
        if not any(each.module.partition(".")[0] == "torch" for facts in files for each in facts.imports):
            return frozenset()
        try:
            return frozenset(Workspace.find().load())
        except ForwardbookError:
            return frozenset()

    @cached_property
    def survey(self) -> Survey:
        """What stands out in the repository, or in the folder that is documented."""
        scope = self.target.paths[0] if self.target.kind in ("folder", "repository") else "."
        repository = self.sources.repository
        root = self.sources.tree.root
        installed = (path.relative_to(root).as_posix() for path in root.glob("*.dist-info/METADATA"))
        project = read_project(installed, self.sources.read)
        name = project.name if project.name and scope == "." else self.target.name
        return Survey(repository, self.sources.graph, name, project, self.plan.focus, scope)

    @cached_property
    def verifier(self) -> Verifier:
        """Judges page after page; each process makes its own, for its engine does not survive a fork."""
        return Verifier(self.held, kept_grammar())

    @cached_property
    def held(self) -> Held:
        """What claims are held against; pages of the plan may be linked before they are written."""
        names = (self.place(page.name) for page in self.plan.pages)
        return Held(self.sources.repository, self.sources.graph, self.sources.read, dict.fromkeys(names, ""))

    def place(self, name: str) -> str:
        """A page relative to the root, in full where it lies elsewhere."""
        path = (self.out / name).resolve()
        root = self.sources.tree.root
        return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)


def _shown(claim: Claim) -> str:
    where = f" ({claim.file})" if claim.file and claim.file not in claim.message() else ""
    return f"{claim.message()}{where}"

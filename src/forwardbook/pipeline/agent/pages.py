"""Pages that are to be written in, the prose of a model for each out, or a line that says why not."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel

from forwardbook.agents.analyst import Answer, Failure, Task, Verify
from forwardbook.agents.choose import Chosen
from forwardbook.agents.flow import diagnostics, settle_all
from forwardbook.agents.requests import Preview
from forwardbook.agents.roles.page_writer import ROLE, Prose, Question, task
from forwardbook.agents.served import numbered
from forwardbook.book.blocks import Block
from forwardbook.book.page import Page
from forwardbook.pipeline.agent.prose import Bench
from forwardbook.workspace import write_atomically

if TYPE_CHECKING:
    from forwardbook.pipeline.explain.plan import Planned
    from forwardbook.pipeline.explain.render import Press

_LANGUAGES: Final = frozenset({"python", "c", "cpp", "cuda"})
_SERVED: Final = 12  # imported files of the same repository that may be asked for


@dataclass(frozen=True)
class Asked:
    """One page: its own blocks, where it lies, and the task."""

    planned: Planned
    base: Page
    place: str
    task: Task


def prose(press: Press, pages: Sequence[Planned], chosen: Chosen) -> Iterator[str]:
    """Put what a writer says of each page into the press; lines about those that get none, and the cost."""
    bench = Bench(press.held)
    asked = [_asked(press, bench, each, chosen) for each in pages if has_prose(press, each)]
    if not asked:
        return
    outcomes = asyncio.run(settle_all([one.task for one in asked], chosen.analyst))
    for one, outcome in zip(asked, outcomes, strict=True):
        if isinstance(outcome, Answer):
            assert isinstance(outcome.value, Prose)
            blocks: tuple[Block, ...] = bench.published(one.base, one.place, outcome.value, outcome.model)
            press.prose[one.planned.name] = blocks
        else:
            press.lacking.add(one.planned.name)
            yield _failed(one, outcome, chosen)


def previews(press: Press, pages: Sequence[Planned], chosen: Chosen) -> Iterator[tuple[str, Preview]]:
    """What would be sent for each page; nothing is."""
    bench = Bench(press.held)
    for each in pages:
        if has_prose(press, each):
            one = _asked(press, bench, each, chosen)
            yield each.name, chosen.preview(one.task)


def has_prose(press: Press, planned: Planned) -> bool:
    """Whether a page is about a source file that a model can read."""
    files = press.sources.repository.files
    return planned.kind == "file" and files[planned.subject].language in _LANGUAGES


def _asked(press: Press, bench: Bench, planned: Planned, chosen: Chosen) -> Asked:
    path = planned.subject
    facts = press.sources.repository.files[path]
    base, place = press.page(planned), press.place(planned.name)
    graph = press.sources.graph
    calls = [
        f"`{each.qualname}` calls `{edge.callee}` at `{path}:{edge.line}`"
        for each in facts.definitions
        for edge in graph.edges_from(path, each.qualname)
        if edge.callee_path and edge.how != "possible"
    ]
    source = text_of(press, path)
    question = Question(
        path=path,
        lines=source.count("\n") + 1,
        source=numbered(source),
        definitions=[
            {"kind": d.kind, "qualname": d.qualname, "start": d.span.start, "end": d.span.end}
            for d in facts.definitions
        ],
        calls=calls,
        digest=facts.digest,
        texts={other: numbered(text_of(press, other)) for other in graph.imports_of(path)[:_SERVED]},
    )
    return Asked(planned, base, place, task(question, _check(bench, base, place), chosen.limits(ROLE)))


def _check(bench: Bench, base: Page, place: str) -> Verify:
    async def check(value: BaseModel) -> str:
        assert isinstance(value, Prose)
        return await asyncio.to_thread(bench.reasons, base, place, value)

    return check


def text_of(press: Press, path: str) -> str:
    """The text of a file of the repository; the reader refuses what leads out of it."""
    data = press.sources.read(path) or b""
    return data.decode(press.sources.repository.files[path].encoding or "utf-8", errors="replace")


def _failed(one: Asked, failure: Failure, chosen: Chosen) -> str:
    path = diagnostics_folder() / f"{Path(one.planned.name).stem}_diagnostics.json"
    told = {**diagnostics(one.task, chosen.analyst.model, failure), "page": one.place}
    write_atomically(path, json.dumps(told, indent=1, ensure_ascii=False) + "\n")
    first = failure.detail.splitlines()[0] if failure.detail else ""
    return f"{one.planned.name}: written without prose, unresolved ({failure.kind}): {first}; see {path}"


def diagnostics_folder() -> Path:
    """Where failures are told: the user's own folder, for a file in the repository would be documented."""
    base = os.environ.get("XDG_STATE_HOME", "")
    return (Path(base) if base else Path.home() / ".local" / "state") / "forwardbook" / "diagnostics"

"""Finished pages in; what a reviewer doubts of each, a line each, out. Nothing of it changes a page."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from forwardbook.agents.analyst import Failure, Task
from forwardbook.agents.choose import Chosen
from forwardbook.agents.flow import diagnostics, settle_all
from forwardbook.agents.requests import Preview
from forwardbook.agents.roles.reviewer import ROLE, Review, task
from forwardbook.agents.served import numbered
from forwardbook.pipeline.agent.pages import diagnostics_folder, has_prose, text_of
from forwardbook.workspace import write_atomically

if TYPE_CHECKING:
    from forwardbook.pipeline.explain.plan import Planned
    from forwardbook.pipeline.explain.render import Press


def doubts(press: Press, pages: Sequence[Planned], chosen: Chosen) -> Iterator[str]:
    """What is doubted of the pages that were finished; a page without a doubt says so."""
    asked = [
        (each, _task(press, each, press.done[each.name].markdown, chosen))
        for each in pages
        if each.name in press.done and has_prose(press, each)
    ]
    if not asked:
        return
    outcomes = asyncio.run(settle_all([one for _, one in asked], chosen.analyst))
    for (planned, one), outcome in zip(asked, outcomes, strict=True):
        if isinstance(outcome, Failure):
            yield _failed(press, planned, one, outcome, chosen)
            continue
        assert isinstance(outcome.value, Review)
        if not outcome.value.doubts:
            yield f"{planned.name}: reviewed by {outcome.model}: no doubts"
        for doubt in outcome.value.doubts:
            place = f"{planned.subject}:{doubt.line_start}-{doubt.line_end}"
            words = f"{_said(doubt.quote)!r}: {_said(doubt.why)} ({place})"
            yield f"{planned.name}: doubt of {outcome.model}: {words}"


def previews(press: Press, pages: Sequence[Planned], chosen: Chosen) -> Iterator[tuple[str, Preview]]:
    """What a reviewer would be sent of each page as it would be without prose; nothing is."""
    for each in pages:
        if has_prose(press, each):
            asked = _task(press, each, press.render(each).markdown, chosen)
            yield f"{each.name}, to be reviewed", chosen.preview(asked)


def _task(press: Press, planned: Planned, page: str, chosen: Chosen) -> Task:
    source = text_of(press, planned.subject)
    return task(page, planned.subject, numbered(source), source.count("\n") + 1, chosen.limits(ROLE))


def _said(text: str) -> str:
    """Words of a model on one line, without anything that a terminal would act on."""
    return "".join(letter for letter in " ".join(text.split()) if letter.isprintable())


def _failed(press: Press, planned: Planned, asked: Task, failure: Failure, chosen: Chosen) -> str:
    path = diagnostics_folder() / f"{Path(planned.name).stem}_review_diagnostics.json"
    told = {**diagnostics(asked, chosen.analyst.model, failure), "page": press.place(planned.name)}
    write_atomically(path, json.dumps(told, indent=1, ensure_ascii=False) + "\n")
    first = failure.detail.splitlines()[0] if failure.detail else ""
    return f"{planned.name}: not reviewed, unresolved ({failure.kind}): {first}; see {path}"

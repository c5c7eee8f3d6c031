"""Kept formulas of models in; their pages and the page that compares them out."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Final

from forwardbook.book.blocks import Block, Heading, Paragraph, Table
from forwardbook.book.inline import code, link, plain
from forwardbook.book.page import Page
from forwardbook.book.site.amounts import binary, count
from forwardbook.book.site.model_page import PHASES, model_page, model_stem
from forwardbook.book.site.model_subject import WIDTHS, ModelSubject
from forwardbook.models.totals import whole
from forwardbook.pipeline.model.analysis import made_for
from forwardbook.pipeline.site.folder import SiteFolder
from forwardbook.profiling.peaks import devices
from forwardbook.workspace.model_files import ModelFiles

INDEX: Final = "models.md"


def put_models(folder: SiteFolder, kept: ModelFiles, pages: Mapping[str, str], renderer: str) -> None:
    """Write the page of every model that has formulas, and the index."""
    found = list(_subjects(kept, {name: f"../modules/{page}" for name, page in pages.items()}))
    for subject in found:
        name = f"models/{model_stem(subject.costs.model_id)}.md"
        made_from = _digest(subject, renderer)
        if not folder.is_current(name, made_from):
            folder.put(name, model_page(subject).markdown(), made_from)
    folder.put(INDEX, Page(INDEX, {"title": "Every model"}, tuple(_index(found))).markdown())


def _subjects(kept: ModelFiles, pages: Mapping[str, str]) -> Iterator[ModelSubject]:
    table = devices()
    for model_id in kept.ids():
        costs = next(kept.costs(model_id), None)
        if costs is not None:
            populated = next(kept.populated(model_id), None)
            yield ModelSubject(costs, populated, table, pages, _positions(kept, model_id))


def _positions(kept: ModelFiles, model_id: str) -> int | None:
    found = kept.find(model_id)
    return None if found is None else made_for(found)


def _digest(subject: ModelSubject, renderer: str) -> str:
    populated = subject.populated
    classes = {row.class_name for phase in subject.costs.phases for _, _, row in phase.model.walk()}
    shown = [
        renderer,
        subject.costs.model_dump_json(),
        populated.model_dump_json() if populated else "",
        repr((subject.devices, subject.positions)),
        repr(sorted((name, subject.pages.get(name)) for name in classes)),
    ]
    return hashlib.sha256("\0".join(shown).encode()).hexdigest()


def _index(found: list[ModelSubject]) -> Iterator[Block]:
    yield Heading(1, "Every model")
    yield Paragraph(
        "Weights, activations and cache of 16 bit. Decode is one further token of each sequence over a cache "
        "of 2,048 positions."
    )
    rows = []
    for subject in found:
        model_id = subject.costs.model_id
        cells = [
            link(plain(model_id), f"models/{model_stem(model_id)}.md"),
            f"{subject.costs.parameter_count:,}",
        ]
        cells += _brief(subject, "prefill") + _brief(subject, "decode")[1:]
        rows.append((*cells, _caution(subject)))
    if rows:
        head = ("Model", "Parameters", "Prefill at", "Flops", "Moved", "Decode: flops", "Moved", "Note")
        yield Table(head, tuple(rows))
    else:
        yield Paragraph(f"None yet: {code('forwardbook analyze-model NAME')} keeps the formulas of a model.")


def _caution(subject: ModelSubject) -> str:
    """What the page of the model says of the calls that its row shows."""
    found = (subject.caution(point[1]) for phase in PHASES if (point := subject.point(phase)) is not None)
    return next((plain(text) for text in found if text), "")


def _brief(subject: ModelSubject, phase: str) -> list[str]:
    point = subject.point(phase)
    if point is None:
        return ["", "", ""]
    costs, sizes = point
    numbers = whole(costs, sizes, WIDTHS)
    at = ", ".join(f"{name} {value:,}" for name, value in sizes.items())
    return [plain(at), count(int(numbers.flops)), binary(int(numbers.moved))]

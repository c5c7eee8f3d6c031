"""The database in, module pages out: a page is made again only when something that it shows has changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, cast

from forwardbook.book.site.data import Preset
from forwardbook.book.site.module_page import module_page, page_stem
from forwardbook.book.site.module_subject import ModuleSubject
from forwardbook.book.site.parts import Callees
from forwardbook.pipeline.site.beneath import Beneath, Raw, called_classes, chain
from forwardbook.pipeline.site.folder import SiteFolder
from forwardbook.pipeline.site.sources import Sources
from forwardbook.workspace import Database
from forwardbook.workspace.model_files import ModelFiles

PRESETS: Final = 24
"""Presets of a class; a layer as common as Linear has more places than anyone wants to choose from."""


@dataclass(frozen=True)
class Around:
    """What module pages show that is in no entry: presets by key, pages by class, explained files by path."""

    presets: Mapping[str, tuple[Preset, ...]]
    pages: Mapping[str, str]
    explained: Mapping[str, str]
    sources: Sources
    renderer: str


def put_modules(folder: SiteFolder, database: Database, around: Around) -> None:
    """Write the pages of all entries."""
    beneath = Beneath(database)
    callees = Callees(beneath.entry)
    for key in database:
        name = f"modules/{page_stem(key)}.md"
        with database.reading(key):
            made_from = _digest(database, key, around, beneath)
        if not folder.is_current(name, made_from):
            alone = Database({each: database.raw(each) for each in chain(database, key)})  # not kept
            page = module_page(_subject(alone, key, around, callees))
            folder.put(name, page.markdown(), made_from)


def presets(kept: ModelFiles) -> dict[str, tuple[Preset, ...]]:
    """For each key the values that known models give its parameters, one for each model and set of values."""
    found: dict[str, dict[tuple[tuple[str, str], ...], Preset]] = {}
    for model_id in kept.ids():
        populated = next(kept.populated(model_id), None)
        for path, layer in populated.layers[0].walk() if populated else ():
            values = {
                name: str(each.value)
                for name, each in layer.parameters.items()
                if isinstance(each.value, int)
            }
            if layer.entry and values:
                preset = Preset(name=f"{model_id}: {path or 'the model'}", values=values)
                found.setdefault(layer.entry, {}).setdefault(tuple(sorted(values.items())), preset)
    return {key: tuple(each.values())[:PRESETS] for key, each in found.items()}


def class_pages(database: Database) -> dict[str, str]:
    """The page of each class in the folder of module pages."""
    return {database.head(key).full_class_name: f"{page_stem(key)}.md" for key in database}


def _subject(database: Database, key: str, around: Around, callees: Callees) -> ModuleSubject:
    holder_key, holder = database.resolved(key)
    entry = database[key]
    return ModuleSubject(
        key=key,
        entry=entry,
        holder=holder,
        presets=around.presets.get(key) or around.presets.get(holder_key, ()),
        source=around.sources.lines(holder),
        pages=around.pages,
        explained=_explained(holder.code_location.file, around.explained),
        callees=callees,
    )


def _digest(database: Database, key: str, around: Around, beneath: Beneath) -> str:
    """Of all that the page shows, told from the raw entry alone: most entries are not even validated."""
    raw = database.raw(key)
    holder_key = chain(database, key)[-1]
    holder = database.raw(holder_key)
    location = cast("Raw", holder.get("code_location") or {})
    file, name = str(location.get("file", "")), str(holder.get("full_class_name", ""))
    shown = [
        around.renderer,
        raw if holder_key != key else None,
        [
            preset.model_dump()
            for preset in around.presets.get(key) or around.presets.get(str(raw.get("same_as")), ())
        ],
        {called: around.pages.get(called) for called in called_classes(holder)},
        _explained(file, around.explained),
        around.sources.stamp(name, file),
        beneath.stamps(holder_key, holder),
    ]
    return hashlib.sha256(json.dumps(shown, sort_keys=True).encode()).hexdigest()


def _explained(file: str, explained: Mapping[str, str]) -> str:
    """The page about a source file, whose path there may begin above the package."""
    found = (page for path, page in explained.items() if path == file or path.endswith(f"/{file}"))
    return next(found, "") if file else ""

"""A workspace in, its folder docs/book out: every page and asset that MkDocs needs beside those by people."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

import forwardbook
from forwardbook.book.page import Page
from forwardbook.book.site.catalogue_page import (
    catalogue_index,
    catalogue_page,
    catalogue_row,
    coverage_page,
    library_name,
    library_page,
)
from forwardbook.book.site.data import CATALOGUE_FILE
from forwardbook.book.site.explained_page import explained_page
from forwardbook.book.site.totals_page import totals_page
from forwardbook.pipeline.catalogue.coverage_of_database import Stored
from forwardbook.pipeline.catalogue.record import Catalogue, known_catalogue
from forwardbook.pipeline.explain.write import subjects
from forwardbook.pipeline.site.assets import put_assets
from forwardbook.pipeline.site.coverage import refuted, site_coverage, site_totals
from forwardbook.pipeline.site.explained import DOUBTFUL, EXPLAINED, Doubtful, doubtful_pages, written
from forwardbook.pipeline.site.folder import SiteFolder
from forwardbook.pipeline.site.models import put_models
from forwardbook.pipeline.site.modules import Around, class_pages, presets, put_modules
from forwardbook.pipeline.site.sources import Sources
from forwardbook.workspace import Database, Workspace
from forwardbook.workspace.model_files import ModelFiles

BOOK: Final = "book"
_RENDERERS: Final = (
    "book/site",
    "book/blocks.py",
    "book/inline.py",
    "book/page.py",
    "book/mermaid/labels.py",
    "pipeline/site/beneath.py",
    "pipeline/site/modules.py",
    "pipeline/site/models.py",
    "pipeline/site/sources.py",
)


@dataclass(frozen=True, slots=True)
class Prepared:
    """What became of the folder: files that changed, files that are gone, and how many there are.

    `doubtful` are pages of explained code, which others wrote, of which a claim does not hold.
    """

    folder: Path
    written: tuple[str, ...]
    removed: tuple[str, ...]
    total: int
    doubtful: Doubtful = field(default_factory=dict)


def prepare(root: Path, docs: Path, further: Sequence[Page] = ()) -> Prepared:
    """Bring docs/book up to date; `further` are pages that others made.

    Raises:
        WorkspaceError: where a file there was edited or is none of ours.
        DatabaseError: where the database cannot be read.
    """
    folder = SiteFolder.open(docs / BOOK)
    database = Workspace(root).load()
    kept = ModelFiles(root)
    pages = class_pages(database)
    explained = subjects(docs / EXPLAINED)
    around = Around(
        presets(kept),
        pages,
        {path: f"../../{EXPLAINED}/{stem}.md" for stem, path in explained.items()},
        Sources(root),
        renderer_digest(),
    )
    try:
        put_modules(folder, database, around)
        put_models(folder, kept, pages, around.renderer)
        put_catalogue(folder, database, known_catalogue(Workspace(root)))
        doubtful = doubtful_pages(docs, root)
        folder.put("explained.md", explained_page(_explained(docs), doubtful).markdown())
        folder.put(DOUBTFUL, written(doubtful))
        for page in further:
            folder.put(page.name, page.markdown())
        put_assets(folder)
    except BaseException:
        folder.save()
        raise
    folder.close()
    return Prepared(folder.path, tuple(folder.written), tuple(folder.removed), len(folder.kept), doubtful)


def put_catalogue(folder: SiteFolder, database: Database, catalogue: Catalogue) -> None:
    """Write the index, the catalogue, a page for each library and the page of holes."""
    rows, stored = [], dict[str, Stored]()
    for key in database:
        raw, holder = database.raw(key), _holder(database, key)
        with database.reading(key):
            rows.append(catalogue_row(key, raw, holder))
            stored.setdefault(rows[-1].library, Stored()).add(key, raw, holder)
    open_ = [row.key for row in rows if row.unresolved or row.verdict != "exact"]
    holes = [(key, _hole(database.raw(key))) for key in open_]
    folder.put(CATALOGUE_FILE, catalogue_index(rows).as_json())
    folder.put("catalogue.md", catalogue_page(rows).markdown())
    page = coverage_page(rows, holes, refuted(catalogue, stored), site_coverage(catalogue, stored))
    folder.put("coverage.md", page.markdown())
    folder.put("totals.md", totals_page(site_totals(catalogue)).markdown())
    for library in sorted({row.library for row in rows}):
        found = [row for row in rows if row.library == library]
        folder.put(library_name(library), library_page(library, found).markdown())


@lru_cache(maxsize=1)
def renderer_digest() -> str:
    """Of the code that makes pages, so that a new version of it makes all of them anew."""
    digest = hashlib.sha256(forwardbook.__version__.encode())
    package = Path(forwardbook.__file__).parent
    for name in _RENDERERS:
        path = package / name
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            digest.update(file.read_bytes())
    return digest.hexdigest()


def installed(names: Sequence[str]) -> dict[str, str]:
    """The versions of distributions, empty where one is not installed."""
    found: dict[str, str] = {}
    for name in names:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = ""
    return found


def _holder(database: Database, key: str) -> Mapping[str, object]:
    target = database.raw(key).get("same_as")
    return database.raw(target) if isinstance(target, str) and target in database else database.raw(key)


def _hole(raw: Mapping[str, object]) -> Mapping[str, object]:
    """What the page of holes tells of an entry; the rest of it need not stay in memory."""
    return {name: raw.get(name) for name in ("unresolved", "validation")}


def _explained(docs: Path) -> dict[str, str]:
    """Pages of explained code in the folder of documents, each with the file that it is about."""
    about = subjects(docs / EXPLAINED)
    pages = sorted((docs / EXPLAINED).rglob("*.md")) if (docs / EXPLAINED).is_dir() else []
    return {page.relative_to(docs).as_posix(): about.get(page.stem, "") for page in pages}

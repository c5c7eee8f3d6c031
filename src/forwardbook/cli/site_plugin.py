"""The plugin of MkDocs: prepares docs/book before a build; puts policy and search index into what was built.

Nothing here that a step before or after a build by another tool could not do as well: pages are Markdown,
their parts are fences, and the functions called here know nothing of MkDocs.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from mkdocs.config import config_options
from mkdocs.config.base import Config
from mkdocs.exceptions import PluginError
from mkdocs.plugins import BasePlugin, event_priority

from forwardbook.book.site.policy import secured
from forwardbook.book.site.search_index import Document, whole_index
from forwardbook.errors import ForwardbookError

if TYPE_CHECKING:
    from jinja2 import Environment
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

_INDEX = "search/search_index.json"


class SiteConfig(Config):  # type: ignore[no-untyped-call]
    """`prepare: false` builds docs/book as it stands; `policy: false` leaves the security policy out."""

    prepare = config_options.Type(bool, default=True)
    policy = config_options.Type(bool, default=True)


class SitePlugin(BasePlugin[SiteConfig]):  # type: ignore[no-untyped-call]
    """Registered as `forwardbook`."""

    def __init__(self) -> None:
        self._before = ""
        self._pages: set[str] = set()
        self._dirty = False

    def on_startup(self, *, command: Literal["build", "gh-deploy", "serve"], dirty: bool) -> None:
        """Remember whether only changed pages are built."""
        self._dirty = dirty

    def on_config(self, config: MkDocsConfig) -> MkDocsConfig:
        """Bring docs/book up to date."""
        if self.config.prepare:
            from forwardbook.cli.site_reference import reference_pages
            from forwardbook.pipeline.site import prepare

            root = Path(config.config_file_path).parent
            try:
                prepare(root, Path(config.docs_dir), reference_pages())
            except ForwardbookError as error:
                raise PluginError(str(error)) from error
        index = Path(config.site_dir, _INDEX)
        self._before = index.read_text(encoding="utf-8") if self._dirty and index.is_file() else ""
        return config

    def on_files(self, files: Files, *, config: MkDocsConfig) -> Files:
        """Remember the addresses of all pages."""
        self._pages = {file.url for file in files.documentation_pages()}
        return files

    def on_env(self, env: Environment, *, config: MkDocsConfig, files: Files) -> Environment:
        """Leave out the indentation of templates, most of the bytes of a large navigation."""
        env.trim_blocks = env.lstrip_blocks = True
        return env

    @event_priority(-100)
    def on_post_page(self, output: str, *, page: Page, config: MkDocsConfig) -> str:
        """Put the policy into a page."""
        return secured(output) if self.config.policy else output

    @event_priority(-100)
    def on_post_template(self, output_content: str, *, template_name: str, config: MkDocsConfig) -> str:
        """Put the policy into the page for addresses that lead nowhere."""
        return (
            secured(output_content)
            if self.config.policy and template_name.endswith(".html")
            else output_content
        )

    @event_priority(-100)
    def on_post_build(self, *, config: MkDocsConfig) -> None:
        """Write the search index of the whole site."""
        from forwardbook.workspace import write_atomically

        index = Path(config.site_dir, _INDEX)
        if index.is_file():
            made = index.read_text(encoding="utf-8")
            text = whole_index(made, self._before, _titles(Path(config.docs_dir)), self._pages)
            write_atomically(index, text)


def _titles(docs: Path) -> list[Document]:
    """The pages of modules and models by title, from the catalogue and the folder of models."""
    from forwardbook.book.site.data import CATALOGUE_FILE, CatalogueRow
    from forwardbook.pipeline.site import BOOK

    catalogue = docs / BOOK / CATALOGUE_FILE
    rows = json.loads(catalogue.read_text(encoding="utf-8"))["rows"] if catalogue.is_file() else []
    columns = list(CatalogueRow.model_fields)
    name, page, verdict = (columns.index(each) for each in ("name", "page", "verdict"))
    found = [
        Document(
            location=f"{BOOK}/{row[page]}",
            title=str(row[name]).rpartition(".")[2],
            text=f"{row[name]} {row[verdict]}",
        )
        for row in rows
    ]
    models = sorted((docs / BOOK / "models").glob("*.md"))
    return found + [
        Document(location=f"{BOOK}/models/{path.stem}.html", title=path.stem, text="costs of the whole model")
        for path in models
    ]

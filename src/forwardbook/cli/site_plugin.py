"""The plugin of MkDocs: prepares docs/book before a build; puts policy and search index into what was built.

Nothing here that a step before or after a build by another tool could not do as well: pages are Markdown,
their parts are fences, and the functions called here know nothing of MkDocs.
"""

from __future__ import annotations

import json
import logging
import zlib
from html import escape, unescape
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from markupsafe import Markup
from mkdocs.config import config_options
from mkdocs.config.base import Config
from mkdocs.exceptions import PluginError
from mkdocs.plugins import BasePlugin, event_priority
from mkdocs.structure.files import InclusionLevel

from forwardbook.book.site.policy import secured
from forwardbook.book.site.search_index import Document, whole_index
from forwardbook.errors import ForwardbookError
from forwardbook.pipeline.site.explained import marked, read_doubtful
from forwardbook.workspace.folder import DATABASE_NAME
from forwardbook.workspace.model_files import FOLDER

if TYPE_CHECKING:
    from collections.abc import Callable

    from jinja2 import Environment
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.livereload import LiveReloadServer
    from mkdocs.structure.files import Files
    from mkdocs.structure.nav import Navigation
    from mkdocs.structure.pages import Page
    from mkdocs.utils.templates import TemplateContext

    from forwardbook.pipeline.site.explained import Doubtful

_INDEX = "search/search_index.json"
_LOG = logging.getLogger("mkdocs.plugins.forwardbook")


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
        self._waiting: dict[str, bytes] = {}
        self._doubtful: Doubtful = {}

    def on_startup(self, *, command: Literal["build", "gh-deploy", "serve"], dirty: bool) -> None:
        """Remember whether only changed pages are built."""
        self._dirty = dirty

    def on_config(self, config: MkDocsConfig) -> MkDocsConfig:
        """Bring docs/book up to date."""
        from forwardbook.pipeline.site.book import BOOK, prepare

        if self.config.prepare:
            from forwardbook.cli.site_reference import reference_pages

            root = Path(config.config_file_path).parent
            try:
                prepared = prepare(root, Path(config.docs_dir), reference_pages())
            except ForwardbookError as error:
                raise PluginError(str(error)) from error
            for page, lines in prepared.doubtful.items():
                _LOG.warning("%s does not hold: %s", page, "; ".join(lines[:3]))
        self._doubtful = read_doubtful(Path(config.docs_dir, BOOK))
        index = Path(config.site_dir, _INDEX)
        self._before = index.read_text(encoding="utf-8") if self._dirty and index.is_file() else ""
        return config

    def on_serve(
        self, server: LiveReloadServer, *, config: MkDocsConfig, builder: Callable[..., None]
    ) -> LiveReloadServer:
        """Build again whenever the database or a model changes."""
        root = Path(config.config_file_path).parent
        for path in (root / DATABASE_NAME, root / Path(DATABASE_NAME).stem, root / FOLDER):
            if path.exists():
                server.watch(str(path))
        return server

    @event_priority(-100)
    def on_page_content(self, html: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
        """Keep the page compressed until its turn comes: MkDocs holds all before it writes the first."""
        self._waiting[page.file.src_uri] = zlib.compress(html.encode("utf-8", "surrogatepass"), 1)
        page.markdown = ""
        return ""

    @event_priority(100)
    def on_page_context(
        self, context: TemplateContext, *, page: Page, config: MkDocsConfig, nav: Navigation
    ) -> TemplateContext:
        """Give the page its content back, before anyone asks for it."""
        page.content = zlib.decompress(self._waiting.pop(page.file.src_uri)).decode("utf-8", "surrogatepass")
        return context

    def on_files(self, files: Files, *, config: MkDocsConfig) -> Files:
        """Remember the addresses of all pages; navigation need not name what is generated."""
        from forwardbook.pipeline.site.book import BOOK

        self._pages = {file.url for file in files.documentation_pages()}
        for file in files.documentation_pages():
            if file.src_uri.startswith(f"{BOOK}/") and file.inclusion is InclusionLevel.UNDEFINED:
                file.inclusion = InclusionLevel.NOT_IN_NAV
        return files

    def on_env(self, env: Environment, *, config: MkDocsConfig, files: Files) -> Environment:
        """Leave out the indentation of templates, most bytes of a large navigation; keep titles text."""
        env.trim_blocks = env.lstrip_blocks = True
        env.filters["striptags"] = _text_of  # that of the template engine turns `&lt;` back into a tag
        return env

    def on_page_markdown(self, markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
        """Let words of a page's front matter be text where the theme writes them as they are.

        A page of which a claim does not hold says so.
        """
        for name in ("title", "description", "author"):
            if name in page.meta:
                page.meta[name] = escape(unescape(str(page.meta[name])))
        wrong = self._doubtful.get(page.file.src_uri)
        return marked(markdown, wrong) if wrong else markdown

    @event_priority(-100)
    def on_post_page(self, output: str, *, page: Page, config: MkDocsConfig) -> str:
        """Put the policy into a page, whose content nobody needs any more."""
        page.content = ""
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


def _text_of(markup: object) -> Markup:
    """The words of some markup, as markup that shows them."""
    return Markup.escape(Markup(str(markup)).striptags())


def _titles(docs: Path) -> list[Document]:
    """The pages of modules and models by title, from the catalogue and the folder of models.

    The theme shows titles and texts of the index as markup, so they are escaped here.
    """
    from forwardbook.book.site.data import CATALOGUE_FILE, CatalogueRow
    from forwardbook.pipeline.site.book import BOOK

    catalogue = docs / BOOK / CATALOGUE_FILE
    rows = json.loads(catalogue.read_text(encoding="utf-8"))["rows"] if catalogue.is_file() else []
    columns = list(CatalogueRow.model_fields)
    name, page, verdict = (columns.index(each) for each in ("name", "page", "verdict"))
    found = [
        Document(
            location=f"{BOOK}/{row[page]}",
            title=escape(str(row[name]).rpartition(".")[2]),
            text=escape(f"{row[name]} {row[verdict]}"),
        )
        for row in rows
    ]
    models = sorted((docs / BOOK / "models").glob("*.md"))
    return found + [
        Document(
            location=f"{BOOK}/models/{path.stem}.html",
            title=escape(path.stem),
            text="costs of the whole model",
        )
        for path in models
    ]

"""The site's configuration in; MkDocs run over it, fully or over what changed, out.

Only pages that changed are built where everything that all pages share is as it was: the configuration, the
versions of the tools, the navigation and the code that makes pages.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from forwardbook.errors import ForwardbookError

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig

    from forwardbook.pipeline.site.book import Prepared

CONFIG: Final = "mkdocs.yml"
STAMP: Final = ".forwardbook-site.json"
_OF_EXPLAINED: Final = re.compile(r"^Doc file 'code-explained/")
"""What MkDocs says of a page that `forwardbook explain` wrote, such as of a link to one that was refused."""
_TOOLS: Final = ("mkdocs", "mkdocs-material", "pymdown-extensions", "markdown", "forwardbook")


@dataclass(frozen=True, slots=True)
class Built:
    """What became of a build."""

    prepared: Prepared
    site: Path
    built: int
    seconds: float
    remarks: tuple[str, ...] = ()
    """What MkDocs warns of in pages of explained code, which others wrote; all pages are built."""


class SiteError(ForwardbookError):
    """The site cannot be built; the message says what is missing or what MkDocs refused."""


def prepare_site(config: Path | None) -> Prepared:
    """docs/book brought up to date."""
    from forwardbook.cli.site_reference import reference_pages
    from forwardbook.pipeline.site.book import prepare

    loaded = _loaded(_config_file(config), strict=False)
    return prepare(Path(loaded.config_file_path).parent, Path(loaded.docs_dir), reference_pages())


def build_site(config: Path | None, *, clean: bool, strict: bool) -> Built:
    """The site, built fully or where that is enough only what changed.

    Raises:
        SiteError: for what MkDocs refuses, and with `strict` for each of its warnings.
    """
    from mkdocs.commands.build import build
    from mkdocs.exceptions import Abort, MkDocsException

    from forwardbook.workspace import write_atomically

    begun = time.monotonic()
    file = _config_file(config)
    prepared = prepare_site(file)
    loaded = _loaded(file, strict=strict)
    site, docs = Path(loaded.site_dir), Path(loaded.docs_dir)
    stamp = {"made_from": _shared(loaded, strict), "documents": _documents(docs)}
    last = {} if clean else _last(site)
    said = tuple(last.pop("remarks", "").splitlines())
    partial = last.get("made_from") == stamp["made_from"] and not said
    if last == stamp:
        return Built(prepared, site, 0, time.monotonic() - begun, said)
    (site / STAMP).unlink(missing_ok=True)  # until it is whole again
    loaded.strict = False  # its own counting takes the remark on partial builds for a warning
    warnings = _Warnings()
    try:
        loaded.plugins.on_startup(command="build", dirty=partial)
        if partial:
            _remove_pages(docs, site)
            _remove_marked(site, prepared)
        logging.getLogger("mkdocs").addHandler(warnings)
        build(loaded, dirty=partial)
    except (Abort, MkDocsException) as error:
        raise SiteError(f"building the site of {file}: {error}") from error
    finally:
        logging.getLogger("mkdocs").removeHandler(warnings)
        loaded.plugins.on_shutdown()
    remarks = tuple(each for each in warnings.said if strict and _OF_EXPLAINED.search(each))
    fatal = [each for each in warnings.said if strict and each not in remarks]
    if fatal:
        raise SiteError("\n  ".join((f"building the site of {file}: MkDocs warns:", *fatal)))
    write_atomically(site / STAMP, json.dumps({**stamp, "remarks": "\n".join(remarks)}) + "\n")
    pages = sum(
        path.stat().st_mtime >= time.time() - (time.monotonic() - begun) for path in site.rglob("*.html")
    )
    return Built(prepared, site, pages, time.monotonic() - begun, remarks)


def serve_site(config: Path | None, address: str) -> None:
    """Serve the site until interrupted."""
    from mkdocs.commands.serve import serve
    from mkdocs.exceptions import Abort, MkDocsException

    file = _config_file(config)
    prepare_site(file)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    try:
        serve(str(file), dev_addr=address)
    except (Abort, MkDocsException, OSError) as error:
        raise SiteError(f"serving the site of {file} at {address}: {error}") from error


class _Warnings(logging.Handler):
    """Keeps what MkDocs warns of, but for its remark that a partial build is one."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if not message.startswith("A 'dirty' build"):
            self.said.append(message)


def _config_file(given: Path | None) -> Path:
    from forwardbook.workspace import Workspace

    file = given or Workspace.find().root / CONFIG
    if not file.is_file():
        raise SiteError(
            f"building the site: there is no {file}. `forwardbook init` writes one, "
            "or name yours with --config"
        )
    return file.resolve()


def _loaded(file: Path, *, strict: bool) -> MkDocsConfig:
    """The configuration; without the theme's banner, and our plugin does not prepare a second time."""
    os.environ.setdefault("NO_MKDOCS_2_WARNING", "1")
    from mkdocs.config import load_config
    from mkdocs.exceptions import MkDocsException

    if not file.is_file():
        raise SiteError(f"building the site: there is no {file}")
    try:
        loaded = load_config(str(file), strict=strict)
    except (MkDocsException, ForwardbookError) as error:
        raise SiteError(f"reading {file}: {error}") from error
    plugin = loaded.plugins.get("forwardbook")
    if plugin is not None:
        plugin.config["prepare"] = False
    return loaded


def _shared(config: MkDocsConfig, strict: bool) -> str:
    """Of all that every page shares: configuration, tools, navigation, theme, code that makes pages."""
    from forwardbook.pipeline.site.book import installed, renderer_digest

    shared = [
        Path(config.config_file_path).read_text(encoding="utf-8"),
        installed(_TOOLS),
        renderer_digest(),
        os.environ.get("SITE_URL", ""),
        strict,
    ]
    return hashlib.sha256(json.dumps(shared, sort_keys=True).encode()).hexdigest()


def _documents(docs: Path) -> str:
    """Of the files that people wrote, by name, size and time, and of the pages that were made, by content."""
    from forwardbook.pipeline.site.book import BOOK
    from forwardbook.pipeline.site.folder import MANIFEST

    made = (docs / BOOK / MANIFEST).read_bytes()
    found = [
        (path.relative_to(docs).as_posix(), path.stat().st_size, path.stat().st_mtime_ns)
        for path in sorted(docs.rglob("*"))
        if path.is_file() and path.relative_to(docs).parts[0] != BOOK
    ]
    return hashlib.sha256(json.dumps(found).encode() + made).hexdigest()


def _last(site: Path) -> dict[str, str]:
    """What the site was built from, nothing where it is not whole."""
    try:
        return dict(json.loads((site / STAMP).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return {}


def _remove_marked(site: Path, prepared: Prepared) -> None:
    """Take out pages whose remark that they do not hold is new, another or gone, so that they are built."""
    from forwardbook.pipeline.site.explained import read_doubtful

    now, last = prepared.doubtful, read_doubtful(site / prepared.folder.name)
    for page in {*now, *last}:
        if now.get(page) != last.get(page):
            (site / page).with_suffix(".html").unlink(missing_ok=True)


def _remove_pages(docs: Path, site: Path) -> None:
    """Take pages out of the built site whose Markdown is gone: a partial build leaves them."""
    for page in site.rglob("*.html"):
        name = page.relative_to(site)
        made_from = [docs / name, (docs / name).with_suffix(".md")]
        if name.name == "index.html":
            made_from.append(docs / name.parent / "README.md")
        if name.as_posix() != "404.html" and not any(path.is_file() for path in made_from):
            page.unlink()

"""The scripts of the site in an engine without a browser; a small site and a Chromium that reads it."""

from __future__ import annotations

import functools
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

import forwardbook.book.site
from forwardbook.pipeline.site.assets import SCRIPTS
from forwardbook.workspace import Workspace
from forwardbook.workspace.model_files import ModelFiles

from .engine import Scripts
from .hostile import prepare_workspace

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

HERE: Final = Path(__file__).parent
ASSETS: Final = Path(forwardbook.book.site.__file__).parent / "assets"
NEED_A_PAGE: Final = (
    "mermaid-lazy",
    "dom",
    "address",
    "plot",
    "roofline",
    "calculator",
    "lines",
    "catalogue",
)

CHROMIUM: Final = os.environ.get("FORWARDBOOK_CHROMIUM") or shutil.which("chromium") or ""
REQUIRED: Final = bool(os.environ.get("FORWARDBOOK_REQUIRE_BROWSER"))
FLAGS: Final = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)  # fmt: skip


NO_DIAGRAMS: Final = "window.mermaid = { initialize() {}, render: async () => ({ svg: '<svg/>' }) };"


@pytest.fixture(scope="session")
def scripts() -> Iterator[Scripts]:
    """One engine for all tests."""
    without_page = [ASSETS / "js" / f"{name}.js" for name in SCRIPTS if name not in NEED_A_PAGE]
    started = Scripts([HERE / "driver.js", *without_page])
    yield started
    started.close()


@dataclass(frozen=True)
class Site:
    """A built site, the files it was made from, and where it is served."""

    workspace: Workspace
    folder: Path
    address: str


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The repository's own site with some classes, a model, an explained file, hostile strings in all."""
    root = tmp_path_factory.mktemp("site")
    with served(root / "site") as address, pytest.MonkeyPatch.context() as patch:
        patch.setenv("SITE_URL", address)
        patch.setenv("NO_MKDOCS_2_WARNING", "1")
        # a workspace sees what is shipped beneath its own, and all of that would take minutes
        patch.setattr("forwardbook.workspace.folder.shipped_path", lambda: None)
        with pytest.MonkeyPatch.context() as building:  # other tests of this process see what is shipped
            building.setattr(ModelFiles, "_folders", lambda files: [files.root / "models"])
            prepare_workspace(root)
            from forwardbook.cli.site_run import build_site

            # hostile prose holds links that lead nowhere: all that strictness would complain about
            build_site(root / "mkdocs.yml", clean=True, strict=False)
        yield Site(Workspace(root), root / "site", address)


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Nothing: what is served is of no interest."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The folder over HTTP on this machine."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium; without one, tests are skipped unless FORWARDBOOK_REQUIRE_BROWSER demands it."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        missing(f"playwright is not installed: {error}")
    if not CHROMIUM:
        missing("no chromium on the path; on Debian: apt-get install --no-install-recommends chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield browser
        browser.close()


def missing(reason: str) -> None:
    """Skip, or fail where the environment says that a browser is there."""
    if REQUIRED:
        pytest.fail(reason)
    pytest.skip(reason)


@dataclass
class Reader:
    """A person with a browser: opens pages, remembers every complaint and every request to another place."""

    context: BrowserContext
    site: Site
    complaints: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)

    def open(self, path: str, diagrams: bool = False) -> Page:
        """The page once its scripts have done their work; drawing its diagrams takes a second more."""
        page = self.context.new_page()
        if not diagrams:
            page.route("**/mermaid.min.js", lambda route: route.fulfill(body=NO_DIAGRAMS))
        page.on("console", lambda message: self.complain(message.type, f"{path}: {message.text}"))
        page.on("pageerror", lambda error: self.complain("error", f"{path}: {error}"))
        page.on("dialog", lambda dialog: self.complain("error", f"{path}: a dialog opened"))
        page.on("request", lambda request: self.note(request.url))
        page.goto(self.site.address + path)
        until(page, "() => !document.querySelector('[data-fb]:not([data-fb-live])')")
        return page

    def complain(self, kind: str, text: str) -> None:
        """Remember errors and warnings of the console."""
        if kind in ("error", "warning"):
            self.complaints.append(text)

    def note(self, url: str) -> None:
        """Remember a request that leaves the site."""
        if not url.startswith((self.site.address, "data:", "blob:")):
            self.outside.append(url)

    def content(self) -> None:
        """Nothing was complained about and nothing left the site."""
        assert self.complaints == []
        assert self.outside == []


def until(page: Page, question: str, seconds: float = 20) -> None:
    """Wait until a function of the page answers true; the policy forbids the waiting of Playwright itself."""
    for _ in range(int(seconds / 0.04)):
        if page.evaluate(question):
            return
        page.wait_for_timeout(40)
    raise AssertionError(f"{page.url}: never true: {question}")


@pytest.fixture
def read(browser: Browser, site: Site) -> Iterator[Callable[..., Reader]]:
    """Makes readers; options are those of a context of Playwright (`color_scheme`, `viewport`)."""
    contexts = []

    def make(**options: Any) -> Reader:
        contexts.append(browser.new_context(**options))
        return Reader(contexts[-1], site)

    yield make
    for context in contexts:
        context.close()

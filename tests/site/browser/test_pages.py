"""Every kind of page with the network cut: no complaint in the console, diagrams drawn, formulas shown."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page, ViewportSize
    from tests.site.browser.conftest import Reader

KINDS = {
    "home": "index.html",
    "why": "why.html",
    "quantities": "quantities.html",
    "site": "site.html",
    "catalogue": "book/catalogue.html",
    "coverage": "book/coverage.html",
    "module": "book/modules/transformers_LlamaAttention.html",
    "model": "book/models/gpt2.html",
    "models": "book/models.html",
    "explained": "book/explained.html",
    "code": "code-explained/hostile.html",
    "commands": "book/commands.html",
    "python": "book/python.html",
    "rules": "rules.html",
}
DESKTOP: Final[ViewportSize] = {"width": 1280, "height": 900}
PHONE: Final[ViewportSize] = {"width": 390, "height": 800}
BRIGHTNESS: Final = (
    "getComputedStyle(document.body).backgroundColor.match(/[0-9]+/g).slice(0, 3).reduce((a, b) => a + +b, 0)"
)
SCREENSHOTS = os.environ.get("FORWARDBOOK_SCREENSHOTS", "")
"""A folder for pictures of each kind of page, to be looked at."""


def test_pages_load_without_a_complaint(read: Callable[..., Reader]) -> None:
    """Each kind of page in both schemes and on a phone: drawn, no wider than the screen, nothing outside."""
    reader = read(color_scheme="light", viewport=DESKTOP)
    for kind, path in KINDS.items():
        page = reader.open(path, diagrams=True)
        _drawn(page)
        _settled(page)
        assert _brightness(page) > 600, kind
        _picture(page, f"{kind}-light")
        assert page.evaluate("document.documentElement.scrollWidth") <= DESKTOP["width"], kind
        page.set_viewport_size(PHONE)
        page.wait_for_timeout(60)
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], kind
        _picture(page, f"{kind}-phone")
        page.set_viewport_size(DESKTOP)
        page.locator(".md-header__option label:not([hidden])").click()
        page.wait_for_timeout(400 if SCREENSHOTS else 0)
        assert _brightness(page) < 200, kind
        _picture(page, f"{kind}-dark")
        page.evaluate("localStorage.clear()")
        page.close()
    reader.content()


def test_dark_is_shown_to_who_prefers_it(read: Callable[..., Reader]) -> None:
    """The first page is dark where the reader's system is, diagrams too."""
    page = read(color_scheme="dark").open(KINDS["module"], diagrams=True)
    _drawn(page)

    assert _brightness(page) < 200


def test_formulas_are_shown(read: Callable[..., Reader]) -> None:
    """A module page shows its formulas as mathematics with a height, and the calculator beside them."""
    page = read().open(KINDS["module"])
    heights = page.evaluate(
        "[...document.querySelectorAll('.fb-math math')].map(m => m.getBoundingClientRect().height)"
    )

    assert len(heights) > 10
    assert min(heights) > 5


def test_a_page_from_the_disk_shows_what_needs_no_server(read: Callable[..., Reader]) -> None:
    """Opened as a file a page has its formulas, tables and results, as the documents say; no complaint."""
    reader = read()
    page = reader.context.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto((reader.site.folder / KINDS["module"]).as_uri())

    assert page.locator(".fb-math math").count() > 10
    assert "2 * batch_size" in page.inner_text(".fb-lines") and page.locator(".fb-calc tbody tr").count() == 8
    assert [] == said


def test_pages_follow_one_another_without_loading(read: Callable[..., Reader]) -> None:
    """A link replaces the content alone, and what is live on the new page works, diagrams too."""
    reader = read()
    page = reader.open(KINDS["catalogue"], diagrams=True)
    page.evaluate("window.sameDocument = true")
    page.locator(".fb-classes tbody a").filter(has_text="LlamaAttention").first.click()
    page.locator(".fb-calculator").wait_for()
    _drawn(page)

    assert page.evaluate("window.sameDocument") is True
    assert page.url.endswith("transformers_LlamaAttention.html")
    page.locator(".fb-plot .fb-point").first.wait_for()
    page.go_back()
    page.locator(".fb-classes tbody tr").first.wait_for()
    reader.content()


def _brightness(page: Page) -> int:
    """Of the background, from 0 to 765."""
    return int(page.evaluate(BRIGHTNESS))


def _drawn(page: Page) -> None:
    """All diagrams of the page are drawings by now."""
    page.wait_for_timeout(50)
    for _ in range(200):
        if page.locator("pre.mermaid").count() == 0:
            break
        page.wait_for_timeout(50)
    assert page.locator("pre.mermaid").count() == 0
    assert page.evaluate("forwardbook.diagrams.errors") == []
    heights = page.evaluate(
        "[...document.querySelectorAll('div.mermaid')].map(d => d.getBoundingClientRect().height)"
    )
    assert all(height > 20 for height in heights)


def _settled(page: Page) -> None:
    """All that fetches data has drawn it."""
    for css in (".fb-catalogue", ".fb-calc .fb-plot-place", ".fb-roofline"):
        if page.locator(css).count():
            page.locator(f"{css} table").first.wait_for()


def _picture(page: Page, name: str) -> None:
    if SCREENSHOTS:
        page.screenshot(path=Path(SCREENSHOTS) / f"{name}.png", full_page=True)

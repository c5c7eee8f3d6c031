"""Every kind of page with the network cut: no complaint in the console, diagrams drawn, formulas shown."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page

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
SCREENSHOTS = os.environ.get("FORWARDBOOK_SCREENSHOTS", "")
"""A folder for pictures of each kind of page, to be looked at."""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_load_without_a_complaint(read: Callable[..., Reader], scheme: str) -> None:
    """Each kind of page in each scheme: diagrams are drawings, nothing is asked of another machine."""
    reader = read(color_scheme=scheme, viewport={"width": 1280, "height": 900})
    for kind, path in KINDS.items():
        page = reader.open(path)
        _drawn(page)
        _settled(page)
        colours = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/[0-9]+/g).map(Number)")
        assert (sum(colours[:3]) > 500) == (scheme == "light"), kind
        _picture(page, f"{kind}-{scheme}")
        page.close()
    reader.content()


def test_pages_fit_a_phone(read: Callable[..., Reader]) -> None:
    """On 390 pixels no page is wider than the screen: what is wide scrolls by itself."""
    reader = read(viewport={"width": 390, "height": 800}, color_scheme="light")
    for kind, path in KINDS.items():
        page = reader.open(path)
        _settled(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, kind
        _picture(page, f"{kind}-phone")
        page.close()
    reader.content()


def test_formulas_are_shown(read: Callable[..., Reader]) -> None:
    """A module page shows its formulas as mathematics with a height, and the calculator beside them."""
    page = read().open(KINDS["module"])
    heights = page.evaluate("[...document.querySelectorAll('.fb-math math')].map(m => m.getBoundingClientRect().height)")

    assert len(heights) > 10
    assert min(heights) > 5


def test_pages_follow_one_another_without_loading(read: Callable[..., Reader]) -> None:
    """A link replaces the content alone, and what is live on the new page works, diagrams too."""
    reader = read()
    page = reader.open(KINDS["catalogue"])
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


def _drawn(page: Page) -> None:
    """All diagrams of the page are drawings by now."""
    page.wait_for_timeout(50)
    for _ in range(200):
        if page.locator("pre.mermaid").count() == 0:
            break
        page.wait_for_timeout(50)
    assert page.locator("pre.mermaid").count() == 0
    assert page.evaluate("forwardbook.diagrams.errors") == []
    heights = page.evaluate("[...document.querySelectorAll('div.mermaid')].map(d => d.getBoundingClientRect().height)")
    assert all(height > 20 for height in heights)


def _settled(page: Page) -> None:
    """All that fetches data has drawn it."""
    for css in (".fb-catalogue", ".fb-calc .fb-plot-place", ".fb-roofline"):
        if page.locator(css).count():
            page.locator(f"{css} table").first.wait_for()


def _picture(page: Page, name: str) -> None:
    if SCREENSHOTS:
        page.screenshot(path=Path(SCREENSHOTS) / f"{name}.png", full_page=True)

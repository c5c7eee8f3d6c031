"""Thirty hostile strings in docstrings, names, fields and prose: no script runs, no element appears."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

import pytest

import forwardbook.book.site

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page
    from tests.site.browser.conftest import Reader, Site

ASSETS: Final = Path(forwardbook.book.site.__file__).parent / "assets"
HOSTILE: Final[list[str]] = json.loads((Path(__file__).parent / "hostile.json").read_text(encoding="utf-8"))
PROSE: Final = (
    "book/catalogue.html",
    "book/coverage.html",
    "code-explained/hostile.html",
    "code-explained/prose.html",
)
NO_TAGS: Final = {
    "script", "iframe", "object", "embed", "form", "base", "meta", "link", "style", "img", "x", "noscript"
}  # fmt: skip
ADDRESSES: Final = {"href", "src", "action", "formaction", "xlink:href"}
LIVE: Final = re.compile(r"[\x00-\x20]*(javascript|data|vbscript)\s*:", re.IGNORECASE)
APPEARED: Final = """([tags, addresses]) => {
  const ours = 'form.fb-calculator, form.fb-bar';
  const found = [...document.querySelectorAll('[id=pwned], [name=pwned], .pwned')];
  for (const element of document.querySelectorAll('article *')) {
    if (tags.includes(element.localName) && !element.matches(ours)) found.push(element);
    for (const { name, value } of element.attributes) {
      if (name.startsWith('on') || name === 'srcdoc') found.push(element);
      if (addresses.includes(name) && /^[\\s]*(javascript|data|vbscript):/i.test(value)) found.push(element);
    }
  }
  return { ran: window.pwned ?? null, appeared: found.map(element => element.outerHTML.slice(0, 200)) };
}"""
USE: Final = """hostile => {
  for (const details of document.querySelectorAll('details')) details.open = true;
  for (const button of document.querySelectorAll('article button[aria-expanded]')) button.click();
  for (const select of document.querySelectorAll('article select')) {
    for (const option of select.options) {
      select.value = option.value;
      select.dispatchEvent(new Event('change', { bubbles: true }));
    }
  }
  for (const box of document.querySelectorAll('article :is(input[type=text], input[type=search])')) {
    box.value = hostile;
    box.dispatchEvent(new Event('input', { bubbles: true }));
  }
}"""
MADE_OF_RESULTS: Final = """() => [...document.querySelectorAll('.md-search-result__list *')]
  .map(element => element.outerHTML)
  .filter(html => /^<(img|script|svg|iframe|b|form|style)[^>]*pwned/.test(html))"""


class Article(HTMLParser):
    """Collects what must not stand between the beginning and the end of an article."""

    def __init__(self) -> None:
        super().__init__()
        self.depth = 0
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Look at an element of the article."""
        self.depth += tag == "article"
        if self.depth and (tag in NO_TAGS or any(_is_wrong(name, value or "") for name, value in attrs)):
            self.found.append(self.get_starttag_text() or tag)

    def handle_endtag(self, tag: str) -> None:
        """The end of an article."""
        self.depth -= tag == "article"


def test_no_page_as_built_holds_an_element_of_a_hostile_string(site: Site) -> None:
    """In the files of all pages no article has a script, a handler, a live link or an element of theirs."""
    pages = sorted(site.folder.rglob("*.html"))
    found = {}
    for path in pages:
        article = Article()
        article.feed(path.read_text(encoding="utf-8"))
        if article.found:
            found[path.name] = article.found

    assert found == {}
    assert len([path for path in pages if path.name.startswith("hostile_Class")]) == len(HOSTILE) == 30


def test_no_script_outside_the_article_is_theirs(site: Site) -> None:
    """What stands around articles, in titles and navigation, has no element of a hostile string either."""
    for path in sorted(site.folder.rglob("*.html")):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"<(script|img|svg|iframe|b|form)[^>]*pwned|<script>window\.pwned", text), (
            path.name
        )


def test_no_script_runs_in_a_browser(read: Callable[..., Reader]) -> None:
    """Pages full of hostile strings are opened, clicked and typed into: nothing runs, appears or leaves."""
    reader = read()
    for path in [*PROSE, *(f"book/modules/hostile_Class{place}.html" for place in range(0, len(HOSTILE), 3))]:
        page = reader.open(path)
        page.evaluate(USE, HOSTILE[1])
        page.wait_for_timeout(30)
        assert _appeared(page) == {"ran": None, "appeared": []}, path
        page.close()
    reader.content()


def test_the_policy_alone_stops_scripts(read: Callable[..., Reader]) -> None:
    """Markup that is put into a page against all care runs nothing: the policy refuses it."""
    reader = read()
    page = reader.open("why.html")
    page.evaluate("""() => {
      const article = document.querySelector('article');
      article.innerHTML += "<img src='x:' onerror='window.pwned=1'>";
      article.innerHTML += "<a id=bad href='javascript:window.pwned=2'>x</a>";
      const script = document.createElement('script');
      script.textContent = 'window.pwned=3';
      article.append(script);
      document.getElementById('bad').click();
    }""")
    page.wait_for_timeout(100)

    assert page.evaluate("window.pwned ?? null") is None
    assert any("Content Security Policy" in text for text in reader.complaints)


def test_search_results_are_text(read: Callable[..., Reader]) -> None:
    """Texts that are markup are found as the text they are."""
    reader = read()
    page = reader.open("why.html")
    page.keyboard.press("/")
    page.keyboard.type("twice")
    page.locator(".md-search-result__item").first.wait_for()
    page.wait_for_timeout(200)

    assert page.evaluate(MADE_OF_RESULTS) == []
    assert "pwned" in page.inner_text(".md-search-result__list")
    assert page.evaluate("window.pwned ?? null") is None
    reader.content()


def test_scripts_make_no_markup_of_text() -> None:
    """No script of ours hands text to a parser of HTML or to an interpreter."""
    forbidden = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|\bFunction\(|DOMParser"
    )
    texts = {path.name: path.read_text(encoding="utf-8") for path in (ASSETS / "js").glob("*.js")}

    assert len(texts) > 10
    assert [name for name, text in texts.items() if forbidden.search(text)] == []


@pytest.mark.parametrize("path", ["book/modules/transformers_LlamaMLP.html", "book/catalogue.html"])
def test_hostile_addresses_stay_text(read: Callable[..., Reader], path: str) -> None:
    """What an address brings along is shown as text in inputs and messages."""
    reader = read()
    names = ("batch_size", "seq_len", "regime", "gpus", "text", "library", "op", "sort", "page")
    for start in range(0, len(HOSTILE), len(names)):
        given = zip(names, HOSTILE[start:], strict=False)
        page = reader.open(f"{path}#?" + "&".join(f"{name}={quote(text)}" for name, text in given))
        page.wait_for_timeout(50)
        assert _appeared(page) == {"ran": None, "appeared": []}, start
        page.close()
    reader.content()


def _is_wrong(name: str, value: str) -> bool:
    is_live = name in ADDRESSES and LIVE.match(value) is not None
    return is_live or name.startswith("on") or name == "srcdoc" or (name == "id" and value == "pwned")


def _appeared(page: Page) -> object:
    return page.evaluate(APPEARED, [sorted(NO_TAGS), sorted(ADDRESSES)])

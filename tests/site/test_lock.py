"""Markdown of others: hostile text in, no element or address that does anything out."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import markdown
import pytest

from forwardbook.book.inline import plain

HERE = Path(__file__).parent
HOSTILE = json.loads((HERE / "browser" / "hostile.json").read_text(encoding="utf-8"))
ALLOWED = {
    "p", "a", "code", "pre", "em", "strong", "ul", "ol", "li", "h1", "h2", "h3", "table", "thead", "tbody",
    "tr", "th", "td", "blockquote", "hr", "br", "img", "div", "span", "details", "summary", "del",
}  # fmt: skip
LIVE = re.compile(r"^[\x00-\x20]*(javascript|data|vbscript)\s*:", re.IGNORECASE)


class Seen(HTMLParser):
    """Every element with its attributes, as a browser reads the text."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))


def render(text: str) -> str:
    """The HTML of some Markdown with the extensions of the site."""
    return markdown.markdown(
        text,
        extensions=[
            "tables", "toc", "pymdownx.details", "pymdownx.superfences", "forwardbook.book.site.lock"
        ],
    )  # fmt: skip


def faults(html: str) -> list[object]:
    """Elements that Markdown does not make, handlers of events, foreign ids, addresses that run something."""
    found: list[object] = []
    for tag, attributes in Seen(html).elements:
        if tag not in ALLOWED:
            found.append(tag)
        found += [(tag, name) for name in attributes if name.startswith("on") or name in ("style", "srcdoc")]
        found += [(tag, value) for value in attributes.values() if value and LIVE.match(value)]
        if attributes.get("id") == "pwned":
            found.append((tag, "id"))
    return found


@pytest.mark.parametrize("place", range(len(HOSTILE)))
def test_hostile_text_as_prose(place: int) -> None:
    """Thirty hostile strings in prose, headings, lists, quotations, cells, links and code make no element."""
    text = HOSTILE[place]
    one = text.replace("\n", " ")
    page = (
        f"{text}\n\n# {one}\n\n- {text}\n\n> {text}\n\n| a |\n| --- |\n| {one} |\n\n[{one}]({one})\n\n"
        f'![{one}]({one})\n\n[x][y]\n\n[y]: {one}\n\n`{one}`\n\n???+ note "{one}"\n    {one}\n'
    )

    assert [] == faults(render(page))


@pytest.mark.parametrize("place", range(len(HOSTILE)))
def test_hostile_text_that_was_escaped_shows_itself(place: int) -> None:
    """A hostile string that went through `plain` stands in the page as it is, and makes no element."""
    html = render(f"Before {plain(HOSTILE[place])} after.")

    assert {"p"} == {tag for tag, _ in Seen(html).elements}
    shown = " ".join(re.sub(r"<[^>]*>", "", html).split())
    assert shown.count("Before ") == 1 and shown.endswith("after.")


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)", "JaVaScRiPt:alert(1)", "java&#10;script:alert(1)", "&#x6A;avascript:alert(1)",
        "data:text/html,x", "vbscript:x", "\x01javascript:alert(1)", "javascript&colon;alert(1)", "file:///etc/passwd",
    ],
)  # fmt: skip
def test_addresses_that_run_something_lead_nowhere(address: str) -> None:
    """A link whose scheme is none of http, https and mailto has no address, however it is written."""
    [(_, attributes)] = [each for each in Seen(render(f"[x](<{address}>)")).elements if each[0] == "a"] or [
        ("a", {})
    ]

    assert not re.match(r"[\x00-\x20]*[a-z]+\s*:", attributes.get("href") or "", re.IGNORECASE)


def test_links_of_pages_stay() -> None:
    """Links to pages, anchors and web addresses keep their address."""
    html = render("[a](b.md#c) [d](https://example.org/?x=1&y=2) [e](#f) [g](mailto:a@example.org)")

    assert ["b.md#c", "https://example.org/?x=1&y=2", "#f", "mailto:a@example.org"] == [
        attributes["href"] for tag, attributes in Seen(html).elements if tag == "a"
    ]


def test_comments_are_left_out_and_code_is_not() -> None:
    """Comments vanish, in one line or several; a comment inside a fence is code."""
    html = render("<!-- one -->\nText\n\n<!-- more\nlines --> rest\n\n```html\n<!-- kept -->\n```\n")

    assert "one" not in html and "more" not in html and "rest" in html
    assert "&lt;!-- kept --&gt;" in html


def test_folded_sections_are_made_anew() -> None:
    """A folded section of a page of explained code becomes one of the theme's, with its fences whole."""
    html = render(
        '<details markdown="1">\n<summary>More of <code>a&lt;b</code></summary>\n\n'
        "Text with `code`\n\n```text\n</details>\n```\n\n</details>\n\nAfter\n"
    )

    assert '<details class="note">\n<summary>More of <code>a&lt;b</code></summary>' in html
    assert "&lt;/details&gt;" in html and html.endswith("</details>\n<p>After</p>")

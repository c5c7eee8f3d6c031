"""A Markdown extension: whatever text a page holds in, no element, script or link of its own out.

Raw HTML becomes text, comments are dropped, and the only tag that pages of ours use, `<details>` around
folded sections, is read here and made anew. Rich parts enter through fences, whose formatters escape.
Attribute lists are not enabled, and a last step drops what they would be dangerous for all the same.
"""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING, Final

from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor
from markdown.treeprocessors import Treeprocessor

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

    from markdown import Markdown

_FENCE: Final = re.compile(r"[ ]{0,3}(`{3,}|~{3,})")
_OPENED: Final = '<details markdown="1">'
_CLOSED: Final = "</details>"
_SUMMARY: Final = re.compile(r"<summary>(.*)</summary>\s*")
_TAG: Final = re.compile(r"</?code>")
_SCHEME: Final = re.compile(r"[\x00-\x20]*([a-z][a-z0-9+.-]*):", re.IGNORECASE)
_SAFE_SCHEMES: Final = frozenset({"http", "https", "mailto"})
_ADDRESSES: Final = ("href", "src", "action", "formaction", "data", "xlink:href", "poster")


class Lock(Extension):
    """Registered in mkdocs.yml as `forwardbook.book.site.lock`."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Take the readers of raw HTML out and put ours in."""
        md.preprocessors.deregister("html_block")
        md.inlinePatterns.deregister("html")
        md.preprocessors.register(_Folded(md), "forwardbook_folded", 28)  # before fences, at 25
        md.treeprocessors.register(_Safe(md), "forwardbook_safe", -100)


def makeExtension(**_: object) -> Lock:
    """The extension, for Markdown, which finds it under this name."""
    return Lock()


class _Folded(Preprocessor):
    """Comments are left out, and folded sections written as the extension `pymdownx.details` reads them."""

    def run(self, lines: list[str]) -> list[str]:
        return list(_unfolded(_without_comments(lines)))


class _Safe(Treeprocessor):
    """Takes away addresses that run something, handlers of events and styles."""

    def run(self, root: Element) -> None:
        for element in root.iter():
            for name in list(element.attrib):
                low = name.lower()
                address = low in _ADDRESSES and not _is_safe(element.attrib[name])
                if address or low.startswith("on") or low in ("srcdoc", "srcset", "style"):
                    del element.attrib[name]
            if element.tag == "img" and "src" not in element.attrib:
                element.tag, element.text = "span", element.attrib.pop("alt", "")


def _is_safe(address: str) -> bool:
    """Whether the address has no scheme, or one that only leads elsewhere."""
    text = re.sub(r"[\x00-\x20\x7f\u0002\u0003]", "", unescape(unescape(address)))
    text = re.sub(r"\x02?amp\x03?", "", text)
    scheme = _SCHEME.match(text)
    return scheme is None or scheme[1].lower() in _SAFE_SCHEMES


def _outside_fences(lines: list[str]) -> Iterator[tuple[str, bool]]:
    """Each line and whether it is part of no fence."""
    fence = ""
    for line in lines:
        found = _FENCE.match(line)
        if fence:
            yield line, False
            if found and found[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
            continue
        if found:
            fence = found[1]
        yield line, not found


def _without_comments(lines: list[str]) -> list[str]:
    kept: list[str] = []
    inside = False
    for line, free in _outside_fences(lines):
        if not free and not inside:
            kept.append(line)
            continue
        inside, rest = _uncommented(line, inside)
        if rest.strip() or not line.strip():
            kept.append(rest)
    return kept


def _uncommented(line: str, inside: bool) -> tuple[bool, str]:
    """The line without comments that begin it, and whether one is still open at its end."""
    rest = line
    while inside or rest.lstrip().startswith("<!--"):
        _, closed, after = rest.partition("-->")
        if not closed:
            return True, ""
        inside, rest = False, after
    return False, rest


def _unfolded(lines: list[str]) -> Iterator[str]:
    """Folded sections as `??? note "title"` with their content indented."""
    depth = 0
    awaiting = False
    for line, free in _outside_fences(lines):
        if free and line == _OPENED:
            awaiting = True
        elif free and awaiting and (summary := _SUMMARY.fullmatch(line)):
            title = _TAG.sub("`", summary[1])
            yield f'{"    " * depth}??? note "{unescape(title).replace(chr(34), chr(39))}"'
            depth, awaiting = depth + 1, False
        elif free and depth and line.strip() == _CLOSED:
            depth -= 1
            yield ""
        else:
            awaiting = False
            yield f"{'    ' * depth}{line}" if line else ""

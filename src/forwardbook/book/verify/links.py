"""A link's target in; whether the file and the anchor that it leads to exist out."""

from __future__ import annotations

import html
import posixpath
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import Final
from urllib.parse import unquote

from forwardbook.book.verify.claims import Verdict, contradicted, supported, unverified
from forwardbook.book.verify.context import Context, Found
from forwardbook.book.verify.inline import Inline
from forwardbook.book.verify.reading import read_page

_SCHEME = re.compile(r"^[a-zA-Z][a-zA-Z0-9+.-]*:|^//")
_MARKS = re.compile(r"`|\*\*|!?\[([^\]]*)\]\([^)]*\)")
_ID: Final = re.compile(r"<[a-zA-Z][^>]*\s(?:id|name)=[\"']([^\"']+)[\"']|\{#([\w.:-]+)\}")
_LINES = re.compile(r"^L(\d+)(?:-L?(\d+))?$")


def text_links(line: int, inline: Inline, context: Context) -> Iterator[Found]:
    """The links of a line that lead to a file or an anchor."""
    for target in inline.links:
        if not _SCHEME.match(target):
            yield Found(line, "link", target, check_link(target, context))


def check_link(target: str, context: Context) -> Verdict:
    """Whether a relative link resolves."""
    path, _, anchor = unquote(target).partition("#")
    path = path.partition("?")[0]
    if not path:
        return _check_anchor(context.path, anchor, context)
    if path.startswith("/"):
        full = path.lstrip("/")
        if not _exists(full, context) and not context.strict:
            return unverified("a link from the root of a site")
    else:
        full = posixpath.normpath(posixpath.join(posixpath.dirname(context.path), path))
    if not _exists(full, context):
        may_be_folder = context.sources.exists is None and "." not in full.rpartition("/")[2]
        return (unverified if may_be_folder else contradicted)(f"there is no {full}")
    if anchor and (found := _LINES.match(anchor)):
        count = len(context.sources.lines(full) or ())
        holds = int(found[1]) <= int(found[2] or found[1]) <= count
        return supported(full) if holds else contradicted(f"{full} has {count} lines", full)
    if anchor and full.endswith(".md"):
        return _check_anchor(full, anchor, context)
    return supported()


def _exists(path: str, context: Context) -> bool:
    sources = context.sources
    if path in sources.pages or path in sources.files or path in sources.folders:
        return True
    if any(page.startswith(path + "/") for page in sources.pages) or path == posixpath.dirname(
        context.path
    ):
        return True
    return sources.read(path) is not None or (sources.exists is not None and sources.exists(path))


def _check_anchor(path: str, anchor: str, context: Context) -> Verdict:
    if not anchor or anchor == "top":
        return supported()
    text = context.sources.pages.get(path, "")
    if not text:
        text = (context.sources.read(path) or b"").decode("utf-8", errors="replace")
    if not text:
        return unverified(f"the text of {path} is not at hand")
    if {anchor, anchor.lower()} & anchors(text):
        return supported()
    return contradicted(f"{path} has no heading of that anchor")


@lru_cache(maxsize=64)
def anchors(markdown: str) -> frozenset[str]:
    """Every anchor of a page: its headings as renderers name them, and those that it writes itself."""
    found = {one for pair in _ID.findall(markdown) for one in pair if one}
    seen: Counter[str] = Counter()
    for heading in read_page(markdown).headings:
        text = html.unescape(_MARKS.sub(lambda match: match[1] or "", heading.text))
        for slug in {slug_of_github(text), slug_of_toc(text)}:
            count = seen[slug]
            seen[slug] += 1
            found.update({slug, f"{slug}-{count}", f"{slug}_{count}"} if count else {slug})
    return frozenset(found)


def slug_of_github(text: str) -> str:
    """The anchor of a heading as GitHub names it."""
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")


def slug_of_toc(text: str) -> str:
    """The anchor of a heading as Python-Markdown names it."""
    ascii_text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", ascii_text).strip().lower())

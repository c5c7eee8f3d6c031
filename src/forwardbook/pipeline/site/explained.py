"""Pages of explained code in; out those of which a claim does not hold, each with what is wrong.

A page that nobody edited and whose sources are still those that it names was held against them when it was
written; any other is held against them now.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final, cast

from forwardbook.book.page import is_untouched

EXPLAINED: Final = "code-explained"
DOUBTFUL: Final = "assets/data/doubtful.json"
"""Where docs/book keeps what is wrong with which page, for whoever builds the pages."""

_SOURCES: Final = re.compile(r'^sources:\n((?:  ".*": ".*"\n)*)', re.MULTILINE)
_LINE: Final = re.compile(r'  (".*"): (".*")')
_HEAD: Final = 1 << 16
Doubtful = Mapping[str, tuple[str, ...]]


def doubtful_pages(docs: Path, root: Path) -> Doubtful:
    """By the path of a page in the folder of documents: a line for each claim that does not hold."""
    folder = docs / EXPLAINED
    pages = [page for page in sorted(folder.rglob("*.md")) if not _is_sound(page, root)]
    if not pages:
        return {}
    from forwardbook.pipeline.explain.verify_pages import verify_pages

    found: dict[str, tuple[str, ...]] = {}
    for page, judged in zip(pages, verify_pages(tuple(pages), root), strict=True):
        wrong = [each for each in judged.claims if each.state in ("contradicted", "stale")]
        if wrong:
            found[page.relative_to(docs).as_posix()] = tuple(each.message() for each in wrong)
    return found


def written(found: Doubtful) -> str:
    """What `read_doubtful` reads."""
    return json.dumps(found, indent=1, sort_keys=True) + "\n"


def read_doubtful(book: Path) -> Doubtful:
    """What was found when docs/book was made."""
    try:
        content = json.loads((book / DOUBTFUL).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(page): tuple(lines) for page, lines in content.items()}


def marked(markdown: str, lines: tuple[str, ...]) -> str:
    """The text of a page with a remark above it that it does not hold."""
    said = "claim of this page does" if len(lines) == 1 else "claims of this page do"
    return (
        f"> **{len(lines)} {said} not hold any more**: the source is another, or the page was edited. "
        f"`forwardbook explain` writes it anew.\n\n{markdown}"
    )


def _is_sound(page: Path, root: Path) -> bool:
    """Whether a page is as it was written, and about sources that are as they were, or that are not here."""
    try:
        text = page.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    found = _SOURCES.search(text[:_HEAD])
    if not is_untouched(text) or found is None:
        return False
    pairs = (_LINE.fullmatch(line) for line in found[1].splitlines())
    sources = {cast(str, json.loads(one[1])): cast(str, json.loads(one[2])) for one in pairs if one}
    digests = {path: _digest(root / path) for path in sources}
    return not any(digests.values()) or all(digests[path] == was for path, was in sources.items())


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    except OSError:
        return ""

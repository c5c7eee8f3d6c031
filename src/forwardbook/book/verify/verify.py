"""One page of Markdown in, all its claims with their states out."""

from __future__ import annotations

from forwardbook.book.verify.claims import Claim
from forwardbook.book.verify.sources import Sources


def verify_page(markdown: str, page_path: str, sources: Sources) -> tuple[Claim, ...]:
    """Every claim of a page, in the order of its lines, held against the sources."""
    return ()

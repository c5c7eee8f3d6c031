"""The facts of one source file in, its page out; one section per file here, in the order of the page."""

from __future__ import annotations

from forwardbook.analyzers.index.facts import FileFacts
from forwardbook.book.page import Page, page_name
from forwardbook.book.pages.context import Calls, Context

__all__ = ["Calls", "Context", "file_page"]


def file_page(path: str, data: bytes, facts: FileFacts, graph: Calls, context: Context) -> Page:
    """The page of one file; it never raises for what stands in the file."""
    return Page(context.pages.get(path, page_name(path)))

"""Pages of explained code in, the page that leads to them out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from forwardbook.book.blocks import Block, Bullets, Heading, Paragraph
from forwardbook.book.inline import code, link, plain
from forwardbook.book.page import Page


def explained_page(pages: Mapping[str, str], doubtful: Mapping[str, Sequence[str]]) -> Page:
    """The list; `pages` are paths in the folder of documents, each with the source file that it explains.

    Those that are `doubtful` say so: by path, what does not hold of them.
    """
    blocks: list[Block] = [Heading(1, "Explained here")]
    if pages:
        blocks.append(
            Paragraph(
                "Every claim of these pages was held against the source before they were written. Where the "
                "source has changed since, or the page, it was held against it again."
            )
        )
        items = tuple(
            f"{link(plain(path.rpartition('/')[2].removesuffix('.md')), f'../{path}')}"
            + (f": {code(about)}" if about else "")
            + (f", **{len(doubtful[path])} claims do not hold**" if path in doubtful else "")
            for path, about in sorted(pages.items())
        )
        blocks.append(Bullets(items))
    else:
        blocks.append(
            Paragraph(
                f"No pages yet: {code('forwardbook explain PATH')} writes them to "
                f"{code('docs/code-explained')}, and the next build of the site shows them."
            )
        )
    return Page("explained.md", {"title": "Explained here"}, tuple(blocks))

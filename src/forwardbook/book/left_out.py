"""A page and the lines of it that do not hold in; the page without the statements on these lines out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from itertools import zip_longest

from forwardbook.book.blocks import Block, Bullets, Details, Diagram, Heading, Table, markdown
from forwardbook.book.page import Page

_TABLE_HEAD = 2  # the head of a table and the rule below it
_DETAILS_HEAD = 3  # the tag, the summary and a blank line
_MESSAGE = (">>", "-)")  # arrows of a sequence diagram


def without(page: Page, lines: Collection[int]) -> Page:
    """The page without what stands on some lines, counted from 1 in its file.

    Of a table it is the row that goes, of a list the item, of a diagram the message; else the whole block,
    and with a heading all that stands below it. A heading that is left with nothing below it goes, too.
    """
    first = page.markdown().count("\n") - markdown(page.blocks).count("\n")
    return replace(page, blocks=_without(page.blocks, {line - first for line in lines}))


def _without(blocks: Iterable[Block], lines: Collection[int]) -> tuple[Block, ...]:
    """Blocks without what stands on some lines, counted from 0 in their Markdown."""
    before = tuple(blocks)
    empty = set(_empty_headings(before))
    kept = tuple(_left(before, lines))
    while fresh := set(_empty_headings(kept)) - empty:
        kept = tuple(block for block in kept if id(block) not in fresh)
    return kept


def _left(blocks: Iterable[Block], lines: Collection[int]) -> Iterator[Block]:
    line, below = 0, 0  # below a heading of that level nothing is kept
    for block in blocks:
        text = block.markdown()
        height = text.count("\n") + 1
        hit = {one - line for one in lines if line <= one < line + height} if text else set()
        line += height + 1 if text else 0
        if isinstance(block, Heading):
            if below and block.level > below:
                continue
            below = block.level if hit and block.level > 1 else 0
        if not below:
            yield from _rest(block, hit) if hit else (block,)


def _rest(block: Block, hit: Collection[int]) -> Iterator[Block]:
    """What is left of a block without some of its lines."""
    if isinstance(block, Heading):
        yield block
    elif isinstance(block, Table):
        rows = tuple(row for n, row in enumerate(block.rows, _TABLE_HEAD) if n not in hit)
        if rows and len(rows) < len(block.rows):
            yield replace(block, rows=rows)
    elif isinstance(block, Bullets):
        if items := tuple(item for n, item in enumerate(block.items) if n not in hit):
            yield replace(block, items=items)
    elif isinstance(block, Details):
        if inside := _without(block.blocks, {one - _DETAILS_HEAD for one in hit}):
            yield replace(block, blocks=inside)
    elif isinstance(block, Diagram):
        lines = list(enumerate(block.text.strip("\n").split("\n"), 1))
        gone = [text for n, text in lines if n in hit]
        if gone and all(any(arrow in text for arrow in _MESSAGE) for text in gone):
            yield Diagram("\n".join(text for n, text in lines if n not in hit))


def _empty_headings(blocks: tuple[Block, ...]) -> Iterator[int]:
    """Headings with nothing between them and the next one of their level or above, by identity."""
    for block, after in zip_longest(blocks, blocks[1:]):
        if isinstance(block, Heading) and (
            after is None or (isinstance(after, Heading) and after.level <= block.level)
        ):
            yield id(block)

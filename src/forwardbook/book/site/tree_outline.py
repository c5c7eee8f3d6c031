"""A cost tree in, the same tree in words out: layers that fold away, with the keyboard as with the mouse."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from forwardbook.book.site.data import CostTree, TreeBox


def tree_outline(tree: CostTree) -> str:
    """Each layer with its share and numbers, those that it holds beneath it; the outermost ones are open."""
    return f'<div class="fb-outline" data-search-exclude>{_branches(tree.boxes)}</div>'


def _branches(boxes: Sequence[TreeBox]) -> str:
    """The boxes of a part of the tree, each before those that it holds."""
    parts: list[str] = []
    place = 0
    while place < len(boxes):
        end = place + 1
        while end < len(boxes) and boxes[end].depth > boxes[place].depth:
            end += 1
        parts.append(_branch(boxes[place], boxes[place + 1 : end]))
        place = end
    return "".join(parts)


def _branch(box: TreeBox, held: Sequence[TreeBox]) -> str:
    words = f"<strong>{escape(box.label)}</strong> {escape(box.detail)}"
    if not held:
        return f'<p class="fb-leaf">{words}</p>'
    is_open = " open" if box.depth == 0 else ""
    return f'<details class="fb-branch"{is_open}><summary>{words}</summary>{_branches(held)}</details>'

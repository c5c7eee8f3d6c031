"""A cost tree in, a picture as SVG out: drawn when the page is built, in the colours of its scheme."""

from __future__ import annotations

from html import escape
from typing import Final

from forwardbook.book.site.data import CostTree, TreeBox

WIDTH: Final = 1000
HEIGHT: Final = 26
LETTER: Final = 6.2
"""Width of a letter, in units of which the picture has WIDTH."""

_MILLION: Final = 1_000_000
_COLOURS: Final = 6


def tree_picture(tree: CostTree) -> str:
    """The picture, with the numbers of each layer where the pointer rests on it."""
    deepest = max((box.depth for box in tree.boxes), default=0)
    parts = "".join(_box(box) for box in tree.boxes)
    return (
        f'<svg viewBox="0 0 {WIDTH} {(deepest + 1) * HEIGHT}" role="img" preserveAspectRatio="none">'
        f"<title>{escape(tree.title)}</title>{parts}</svg>"
    )


def _box(box: TreeBox) -> str:
    left, width = box.left * WIDTH / _MILLION, box.width * WIDTH / _MILLION
    top = box.depth * HEIGHT
    room = int((width - 6) / LETTER)
    label = box.label if len(box.label) <= room else (box.label[: room - 1] + "…" if room > 3 else "")
    shape = f'<rect x="{left:.2f}" y="{top}" width="{max(width - 0.6, 0.2):.2f}" height="{HEIGHT - 1}"/>'
    text = f'<text x="{left + 4:.2f}" y="{top + 17}">{escape(label)}</text>' if label else ""
    return (
        f'<g class="fb-box fb-box-{box.depth % _COLOURS}">'
        f"<title>{escape(f'{box.label}: {box.detail}')}</title>{shape}{text}</g>"
    )

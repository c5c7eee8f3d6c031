"""A console of rich whose texts hold nothing that a terminal obeys; its own colours and moves stay."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.segment import Segment

from forwardbook.printable import is_printable, printable


class EscapingConsole(Console):
    """What is printed is laid out first; then each piece of text is spelled out, and styles are added."""

    def _render_buffer(self, buffer: Iterable[Segment]) -> str:
        return super()._render_buffer(_escaped(one) for one in buffer)


def _escaped(segment: Segment) -> Segment:
    if segment.control or is_printable(segment.text):
        return segment
    return Segment(printable(segment.text), segment.style)

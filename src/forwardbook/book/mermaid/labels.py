"""Text of a source file in, text for a label of a Mermaid diagram out: it shows and can do nothing else."""

from __future__ import annotations

import re

from forwardbook.book.inline import clip

_SPECIAL = re.compile(r"[^\w .,()=+*/!?@\[\]…→-]")


def label(text: str, width: int = 60) -> str:
    """The text on one line with all that Mermaid might read as its own written as `#code;`."""
    line = clip(text, width)
    return _SPECIAL.sub(lambda found: f"#{ord(found[0])};", line) or "#32;"


def call_text(name: str, arguments: tuple[str, ...], width: int = 60) -> str:
    """A call as it is written, `f(a, b)`; arguments that do not fit are one `…`."""
    shown: list[str] = []
    for argument in arguments:
        short = clip(argument, 40)
        if len(name) + sum(len(each) + 2 for each in shown) + len(short) + 4 > width:
            shown.append("…")
            break
        shown.append(short)
    return f"{name}({', '.join(shown)})"

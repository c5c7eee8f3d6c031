"""Files and packages with arrows between them in, the text of a Mermaid `flowchart` out."""

from __future__ import annotations

from collections.abc import Collection

from forwardbook.book.mermaid.labels import NAME_WIDTH, label

Arrow = tuple[str, str, str]
"""From, to, and the verb between them (`imports`, `calls`)."""


def flowchart(
    nodes: tuple[str, ...], arrows: tuple[Arrow, ...], rounded: Collection[str] = (), direction: str = "LR"
) -> str:
    """The diagram: every node by its name, those in `rounded` with round ends."""
    names = dict.fromkeys((*nodes, *(name for source, target, _ in arrows for name in (source, target))))
    aliases = {name: f"N{number}" for number, name in enumerate(names, 1)}
    lines = [f"flowchart {direction}"]
    for name, alias in aliases.items():
        opened, closed = ("([", "])") if name in rounded else ("[", "]")
        lines.append(f'    {alias}{opened}"{label(name, NAME_WIDTH)}"{closed}')
    for source, target, verb in arrows:
        lines.append(f'    {aliases[source]} -->|"{label(verb, 30)}"| {aliases[target]}')
    return "\n".join(lines)

"""The lines of a forward() in; a flowchart out: each line that computes, and which values reach it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Final

from forwardbook.book.mermaid.labels import label
from forwardbook.schema import FlopLine

LARGEST: Final = 40
"""Lines that are drawn; a longer forward() is no picture any more."""

WIDTH: Final = 64
_KNOWN: Final = frozenset({"self", "torch", "nn", "F", "math", "True", "False", "None", "kwargs", "args"})


def flow_diagram(lines: Sequence[FlopLine], name: str) -> str:
    """The diagram, empty where nothing is computed."""
    shown = sorted(lines, key=lambda line: line.line)[:LARGEST]
    if not shown:
        return ""
    drawn = [
        "flowchart TD",
        f"    accTitle: Data flow of {label(name, 80)}",
        "    accDescr: Each line of forward that computes and the values that lead from one to the next",
    ]
    drawn += [f'    L{line.line}["{line.line}: {label(line.code, WIDTH)}"]' for line in shown]
    inputs: dict[str, str] = {}
    edges: dict[tuple[str, str], list[str]] = {}
    for source, target, value in _edges(shown):
        if not source:
            source = inputs.setdefault(value, f"I{len(inputs)}")
        edges.setdefault((source, target), []).append(value)
    drawn += [f'    {alias}(["{label(value)}"])' for value, alias in inputs.items()]
    for (source, target), values in edges.items():
        text = "" if source.startswith("I") else f'|"{label(", ".join(values))}"|'
        drawn.append(f"    {source} -->{text} {target}")
    if len(lines) > LARGEST:
        drawn.append(f'    rest["and {len(lines) - LARGEST} more lines"]')
    return "\n".join(drawn)


def _edges(lines: Sequence[FlopLine]) -> Iterator[tuple[str, str, str]]:
    """From the line that last gave a name its value to one that uses it; no line for inputs."""
    given: dict[str, str] = {}
    for line in lines:
        node = f"L{line.line}"
        used, made = _names(line.code)
        for name in used:
            if given.get(name) != node:
                yield given.get(name, ""), node, name
        given |= dict.fromkeys(made, node)


def _names(code: str) -> tuple[list[str], list[str]]:
    """Names that a statement uses and names that it gives a value, in the order in which they stand there."""
    tree = _parsed(code)
    if tree is None:
        return [], []
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    used: dict[str, None] = {}
    made: dict[str, None] = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Name) or node.id in _KNOWN or id(node) in called:
            continue
        if isinstance(node.ctx, ast.Load):
            used[node.id] = None
        else:
            made[node.id] = None
    augmented = [each.target for each in ast.walk(tree) if isinstance(each, ast.AugAssign)]
    used |= {each.id: None for each in augmented if isinstance(each, ast.Name)}
    return list(used), list(made)


def _parsed(code: str) -> ast.Module | None:
    """The statement, or the head of a block with nothing in it; read, never run."""
    for text in (
        code,
        f"{code}\n    pass",
        f"async def f():\n    {code}",
        f"if True:\n    pass\n{code}\n    pass",
    ):
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return None

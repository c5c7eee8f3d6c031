"""Python text laid out: expressions and signatures in, lines of at most 110 characters out."""

from __future__ import annotations

import json
import re
from typing import Final

WIDTH: Final = 110


def quoted(text: str) -> str:
    """The text as a Python string literal."""
    return json.dumps(text, ensure_ascii=False)  # JSON's escapes are all Python's


def documented(text: str) -> str:
    """The text as the inside of a docstring of one line."""
    words = re.sub(r"[\s\x00-\x1f]+", " ", text).strip().replace("\\", "\\\\").replace('"', "'")
    return words or "."


def filled(before: str, expression: str, after: str, indent: int) -> str:
    """The expression between two texts on one line where it fits, else filled inside parentheses."""
    margin = " " * indent
    line = f"{margin}{before}{expression}{after}"
    if len(line) <= WIDTH:
        return line
    inner = " " * (indent + 4)
    lines, current = [], inner
    for piece in _pieces(expression):
        if len(current) + len(piece) > WIDTH and current.strip():
            lines.append(current.rstrip())
            current = inner
        current += piece + " "
    body = "\n".join([*lines, current.rstrip()])
    return f"{margin}{before}(\n{body}\n{margin}){after}"


def listed(before: str, items: list[str], brackets: str, indent: int) -> str:
    """The texts in brackets, on one line where they fit, else one per line."""
    comma = "," if len(items) == 1 and brackets == "()" else ""
    line = f"{' ' * indent}{before}{brackets[0]}{', '.join(items)}{comma}{brackets[1]}"
    if len(line) <= WIDTH:
        return line
    inner = "".join(f"{' ' * (indent + 4)}{item},\n" for item in items)
    return f"{' ' * indent}{before}{brackets[0]}\n{inner}{' ' * indent}{brackets[1]}"


def signature(name: str, parameters: list[str], result: str) -> str:
    """The first line of a method that takes the parameters by name and ignores every other."""
    arguments = ["*", *(f"{parameter}: int" for parameter in parameters), "**_: int"]
    if not parameters:
        arguments = ["**_: int"]
    line = f"    def {name}({', '.join(arguments)}) -> {result}:"
    if len(line) <= WIDTH:
        return line
    return "\n".join(
        [f"    def {name}(", *(f"        {argument}," for argument in arguments), f"    ) -> {result}:"]
    )


def _pieces(expression: str) -> list[str]:
    """The expression cut before each operator, so that lines begin with one."""
    return re.split(r" (?=(?://|[-+*%]) )|(?<=,) ", expression)

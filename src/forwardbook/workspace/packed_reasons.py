"""The reasoning of a regime in, the reason of each operation out; and the reasoning again from these."""

from __future__ import annotations

import re

from forwardbook.workspace.migrations import Json
from forwardbook.workspace.packed_rows import Statements


def reasons_in(text: str, rows: list[Json], statements: Statements) -> dict[str, str]:
    """For each operation that a reasoning names, why it costs what it costs."""
    names = {name for row in rows for name in statements.operations(row)}
    if not names or not text:
        return {}
    one = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    found: dict[str, str] = {}
    for line in text.split("\n"):
        for match in re.finditer(rf"(?:`: |; )({one}): (.*?)(?=; (?:{one}): |\.$)", line):
            found.setdefault(match[1], match[2])
    return found


def reasoning(rows: list[Json], statements: Statements, reasons: dict[str, str]) -> str:
    """A sentence for each row that computes: its line, its code, and why its operations cost what they do."""
    said: list[str] = []
    for row in rows:
        if "flops" in row or "pointwise_ops" in row:
            line, code = statements.said(row)
            why = [f"{name}: {reasons[name]}" for name in statements.operations(row) if name in reasons]
            said.append(f"Line {line}, `{code}`: " + "; ".join(why) + ".")
    return "\n".join(said)

"""A value in; its JSON out as it stands in a file: sorted, what is short on one line, else a line a part."""

from __future__ import annotations

import json
from typing import Final

WIDTH: Final = 110  # characters of a line


def laid_out(value: object, depth: int = 0) -> str:
    """The text of a value that stands `depth` blanks from the edge."""
    text = dumped(value)
    if not value or not isinstance(value, dict | list) or depth + len(text) <= WIDTH:
        return text
    blanks, inner = "\n" + " " * depth, "\n" + " " * (depth + 1)
    if isinstance(value, list):
        return "[" + ",".join(inner + laid_out(one, depth + 1) for one in value) + blanks + "]"
    rows = (f"{inner}{dumped(name)}: {laid_out(value[name], depth + 1)}" for name in sorted(value))
    return "{" + ",".join(rows) + blanks + "}"


def dumped(value: object) -> str:
    """The JSON of a value on one line."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)

"""Points of a proof in, a column of numbers for each size and quantity out, and back."""

from __future__ import annotations

from typing import Final, cast

from forwardbook.workspace.migrations import Json

_PARTS: Final = ("sizes", "measured", "predicted")


def in_columns(points: list[Json]) -> Json:
    """The columns; what was predicted only where it is not what was measured.

    Raises:
        ValueError: where points have other names than the first.
    """
    found: Json = {}
    for part in _PARTS if points else ():
        rows = [cast("dict[str, int]", point[part]) for point in points]
        if any(row.keys() != rows[0].keys() for row in rows) or any(
            len(point) != len(_PARTS) for point in points
        ):
            raise ValueError("points of different shapes")
        found[part] = {name: [row[name] for row in rows] for name in rows[0]}
    if found and found["predicted"] == found["measured"]:
        del found["predicted"]
    return found


def from_columns(stored: Json) -> list[Json]:
    """The points; their columns are taken out of what is stored."""
    columns = {part: cast("dict[str, list[int]]", stored.pop(part)) for part in _PARTS if part in stored}
    if not columns:
        return []
    columns.setdefault("predicted", columns["measured"])
    count = max((len(column) for part in columns.values() for column in part.values()), default=0)
    return [
        {part: {name: column[at] for name, column in columns[part].items()} for part in _PARTS}
        for at in range(count)
    ]

"""The columns of a sweep in; a tidy table out: one row for each point, as CSV or as Parquet."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from typing import TYPE_CHECKING

from forwardbook.errors import ForwardbookError

if TYPE_CHECKING:
    from forwardbook.models.sweep import Columns


def joined(
    model_id: str, widths: Mapping[str, int], tables: Mapping[str, Columns]
) -> dict[str, list[object]]:
    """One table of all phases, with the model and the widths in columns of their own."""
    names = list(dict.fromkeys(name for columns in tables.values() for name in columns))
    found: dict[str, list[object]] = {"model": [], "phase": [], **{name: [] for name in widths}}
    found |= {name: [] for name in names}
    for phase, columns in tables.items():
        count = len(next(iter(columns.values())))
        found["model"] += [model_id] * count
        found["phase"] += [phase] * count
        for name, bits in widths.items():
            found[name] += [bits] * count
        for name in names:
            found[name] += columns[name].tolist() if name in columns else [None] * count
    return found


def sweep_csv(table: Mapping[str, list[object]]) -> str:
    """The table as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table)
    for row in zip(*table.values(), strict=True):
        writer.writerow([_cell(one) for one in row])
    return text.getvalue()


def _cell(one: object) -> object:
    if one is None:
        return ""
    return f"{one:.9g}" if isinstance(one, float) else one


def sweep_parquet(table: Mapping[str, list[object]]) -> bytes:
    """The table as Parquet.

    Raises:
        ForwardbookError: where pyarrow is not installed, or a number does not fit into 64 bits.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        advice = "pip install 'forwardbook[parquet]'; or name a .csv file"
        raise ForwardbookError(f"writing Parquet needs pyarrow: {advice}") from None
    buffer = io.BytesIO()
    try:
        pyarrow.parquet.write_table(pyarrow.table(dict(table)), buffer)
    except (OverflowError, pyarrow.ArrowException) as error:
        raise ForwardbookError(f"writing Parquet: {error}; CSV has integers of any size") from error
    return buffer.getvalue()

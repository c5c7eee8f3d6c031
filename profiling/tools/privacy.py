"""An export of nsys in; the values of environment variables taken out of it, and how many there were, out.

nsys up to 2023.4 writes the environment of the workload, and as root of other processes too, into its report.
In the export it stands among all strings; a report itself can only be kept to oneself.
"""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=", re.ASCII)


def without_environment(export: Path) -> int:
    """Empties strings of an export that are variables with values, and no names of ranges or kernels."""
    with closing(sqlite3.connect(export)) as base:
        tables = {
            str(name) for (name,) in base.execute("select name from sqlite_master where type = 'table'")
        }
        if "StringIds" not in tables:
            return 0
        used = {one for table in tables for one in _used(base, table)}
        rows = base.execute("select id, value from StringIds").fetchall()
        found = [
            (f"{value.partition('=')[0]}=", key)
            for key, value in rows
            if isinstance(value, str) and key not in used and _VARIABLE.match(value)
        ]
        base.executemany("update StringIds set value = ? where id = ?", found)
        base.commit()
        if found:
            base.execute("vacuum")
    return len(found)


def _used(base: sqlite3.Connection, table: str) -> set[int]:
    """Strings that tables of events name: of ranges, kernels, API calls."""
    if not table.startswith(("NVTX", "CUPTI", "CUDA")):
        return set()
    quoted = table.replace('"', '""')
    columns = [str(row[1]) for row in base.execute(f'pragma table_info("{quoted}")')]
    names = [one for one in columns if one == "textId" or one.lower().endswith("name") or one == "nameId"]
    found: set[int] = set()
    for name in names:
        query = f'select distinct "{name}" from "{quoted}"'
        found |= {value for (value,) in base.execute(query) if isinstance(value, int)}
    return found

"""Older database files become current ones: raw JSON of schema version n in, of version n + 1 out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from forwardbook.errors import ForwardbookError
from forwardbook.schema import SCHEMA_VERSION

Json = dict[str, object]
Step = Callable[[Json], Json]


def _as_they_are(content: Json) -> Json:
    """Version 1 had entries in the form of the code."""
    entries = content.get("entries")
    if not isinstance(entries, dict):
        return content
    return {**content, "entries": {k: {"plain": e} if isinstance(e, dict) else e for k, e in entries.items()}}


STEPS: Final[dict[int, Step]] = {1: _as_they_are}
"""From version n to n + 1, for each n that was ever released."""


class SchemaVersionError(ForwardbookError):
    """The file's schema version is not one that this forwardbook reads."""


def migrated(
    content: Json, origin: str, steps: Mapping[int, Step] = STEPS, current: int = SCHEMA_VERSION
) -> Json:
    """The content in the current schema version; the file itself changes only when it is next saved."""
    version = content.get("schema_version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 0:
        raise SchemaVersionError(
            f"reading {origin}: schema_version is {version!r}, no whole number; the file was left untouched. "
            "Restore it from version control, or move it away to start afresh"
        )
    if version > current:
        raise SchemaVersionError(
            f"reading {origin}: it is of schema version {version}, this forwardbook reads up to {current}; "
            "the file was left untouched. Upgrade forwardbook: pip install --upgrade forwardbook"
        )
    for step in range(version, current):
        if step not in steps:
            raise SchemaVersionError(
                f"reading {origin}: it is of schema version {version}, and no migration leads from {step} to "
                f"{step + 1}; the file was left untouched. Analyse the classes again in a fresh workspace"
            )
        content = {**steps[step](content), "schema_version": step + 1}
    return content

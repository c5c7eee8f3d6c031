"""The workspace alone knows the disk: it keeps module_db.json whole and reads source trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forwardbook.workspace.database import Database, DatabaseError
    from forwardbook.workspace.folder import Workspace
    from forwardbook.workspace.repository import build_repository
    from forwardbook.workspace.storage import WorkspaceError, write_atomically

_HOMES = {
    "Database": "database",
    "DatabaseError": "database",
    "Workspace": "folder",
    "WorkspaceError": "storage",
    "build_repository": "repository",
    "write_atomically": "storage",
}
__all__ = [
    "Database",
    "DatabaseError",
    "Workspace",
    "WorkspaceError",
    "build_repository",
    "write_atomically",
]


def __getattr__(name: str) -> object:
    """What this room exports, imported when it is first asked for: source trees need no database."""
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(f"forwardbook.workspace.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

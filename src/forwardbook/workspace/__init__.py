"""The workspace alone knows the disk: it finds, reads, merges and writes module_db.json, atomically."""

from forwardbook.workspace.database import Database, DatabaseError
from forwardbook.workspace.folder import Workspace
from forwardbook.workspace.storage import WorkspaceError, write_atomically

__all__ = ["Database", "DatabaseError", "Workspace", "WorkspaceError", "write_atomically"]

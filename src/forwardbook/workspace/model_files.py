"""Architectures and formulas of models on disk: `models/<id>.json`, `.costs.json`; shipped ones beneath."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from forwardbook.errors import ForwardbookError
from forwardbook.models.architecture import ARCHITECTURE_VERSION, Architecture
from forwardbook.models.record import ModelCosts
from forwardbook.workspace.storage import locked, write_atomically

FOLDER: Final = "models"
COSTS: Final = ".costs.json"
POPULATED: Final = "_populated.json"
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


class ModelFileError(ForwardbookError):
    """A model's file that cannot be read or written; the message names it and what was found."""


@dataclass(frozen=True)
class ModelFiles:
    """The `models` folder of a workspace."""

    root: Path

    def ids(self) -> list[str]:
        """The ids of all models at hand."""
        paths = (path for folder in self._folders() for path in folder.glob("[!.]*.json"))
        names = (path.name for path in paths)
        return sorted({n.removesuffix(".json") for n in names if not n.endswith((COSTS, POPULATED))})

    def find(self, name: str) -> Architecture | None:
        """The model of that id, or whose aliases have that name."""
        for folder in self._folders():
            path = folder / f"{name}.json"
            if _ID.fullmatch(name) and path.is_file():
                return read_architecture(path)
        for model_id in self.ids() if "/" in name else ():
            one = self.find(model_id)
            if one is not None and name.lower() in (alias.lower() for alias in one.aliases):
                return one
        return None

    def costs(self, model_id: str) -> Iterator[ModelCosts]:
        """The formulas kept for a model, the workspace's own first; other versions' files are passed over."""
        for folder in self._folders():
            path = folder / f"{model_id}{COSTS}"
            if path.is_file():
                with suppress(ValidationError, ValueError, OSError):
                    yield ModelCosts.model_validate_json(path.read_text(encoding="utf-8"))

    def write(self, architecture: Architecture) -> Path:
        """The architecture under its id; in one step."""
        text = architecture.model_dump_json(by_alias=True, indent=1) + "\n"
        return self._write(f"{_checked(architecture.model_id)}.json", text)

    def write_costs(self, costs: ModelCosts) -> Path:
        """The formulas under the model's id; in one step."""
        return self._write(f"{_checked(costs.model_id)}{COSTS}", costs.model_dump_json(indent=1) + "\n")

    def _write(self, name: str, text: str) -> Path:
        path = self.root / FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with locked(path):
            write_atomically(path, text)
        return path

    def _folders(self) -> list[Path]:
        shipped = Path(str(files("forwardbook") / "model_files"))
        own = self.root / FOLDER
        return [own] if shipped.resolve() == own.resolve() else [own, shipped]


def read_architecture(path: Path) -> Architecture:
    """An architecture file.

    Raises:
        ModelFileError: where it cannot be read, is no JSON, is of a newer version or lacks what it must have.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ModelFileError(f"reading {path}: {error}") from error
    try:
        found = Architecture.model_validate_json(text)
    except ValidationError as error:
        faults = ((".".join(map(str, one["loc"])) or "the file", one["msg"]) for one in error.errors()[:8])
        told = "; ".join(f"{place}: {what}" for place, what in faults)
        raise ModelFileError(f"reading the architecture {path}: {told}") from error
    if found.architecture_version > ARCHITECTURE_VERSION:
        raise ModelFileError(
            f"reading {path}: it was written by a newer version (architecture {found.architecture_version}, "
            f"this one knows {ARCHITECTURE_VERSION}); update forwardbook"
        )
    return found


def _checked(model_id: str) -> str:
    if not _ID.fullmatch(model_id):
        raise ModelFileError(f"{model_id!r} is no name for a file; use letters, digits, dots and dashes")
    return model_id

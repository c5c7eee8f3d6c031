"""Architectures and formulas of models on disk: `models/<id>.json`, `.costs.json`; shipped ones beneath."""

from __future__ import annotations

import json
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
from forwardbook.models.populated import POPULATED_VERSION, Populated
from forwardbook.models.record import COSTS_VERSION, ModelCosts
from forwardbook.workspace.storage import locked, write_atomically

FOLDER: Final = "models"
COSTS: Final = ".costs.json"
POPULATED: Final = "_populated.json"
FAULTS: Final = 24
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


_NUMBERED = re.compile(r"(?<=[a-z])[-_ ](?=\d)")  # `gpt-2` is `gpt2`


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

    def alike(self, name: str) -> Architecture | None:
        """The one model with this id but for case and a dash before a number: `Llama-3.1-8B`, `GPT-2`."""
        same = [one for one in self.ids() if _spelt(one) == _spelt(name)]
        return self.find(same[0]) if len(same) == 1 else None

    def costs(self, model_id: str) -> Iterator[ModelCosts]:
        """The formulas kept for a model, the workspace's own first; other versions' files are passed over."""
        for folder in self._folders():
            path = folder / f"{model_id}{COSTS}"
            if path.is_file():
                with suppress(ValidationError, ValueError, OSError):
                    found = ModelCosts.model_validate_json(path.read_text(encoding="utf-8"))
                    if found.costs_version == COSTS_VERSION:
                        yield found

    def populated(self, model_id: str) -> Iterator[Populated]:
        """The populated architectures kept for a model, the own first; damaged ones are passed over."""
        for folder in self._folders():
            path = folder / f"{model_id}{POPULATED}"
            if path.is_file():
                with suppress(ModelFileError):
                    yield read_populated(path)

    def write(self, architecture: Architecture, name: str = "") -> Path:
        """The architecture under its id, or the name that its user has for it; in one step."""
        text = architecture.model_dump_json(by_alias=True, indent=1) + "\n"
        return self._write(f"{_checked(name or architecture.model_id)}.json", text)

    def write_populated(self, found: Populated, name: str = "") -> Path:
        """The populated architecture under the model's id, or its user's name for it; in one step."""
        text = found.model_dump_json(by_alias=True, indent=1) + "\n"
        return self._write(f"{_checked(name or found.model_id)}{POPULATED}", text)

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
    """An architecture file, or the architecture of a populated one.

    Raises:
        ModelFileError: where it cannot be read, is no JSON, is of a newer version or lacks what it must have.
    """
    text = _text(path)
    if _version(text, "populated_version") is not None:
        return read_populated(path).architecture()
    _refuse_newer(path, _version(text, "architecture_version"), ARCHITECTURE_VERSION)
    try:
        return Architecture.model_validate_json(text)
    except ValidationError as error:
        raise _faulty(path, error) from error


def read_populated(path: Path) -> Populated:
    """A populated architecture file.

    Raises:
        ModelFileError: as `read_architecture`.
    """
    text = _text(path)
    _refuse_newer(path, _version(text, "populated_version"), POPULATED_VERSION)
    try:
        return Populated.model_validate_json(text)
    except ValidationError as error:
        raise _faulty(path, error) from error


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ModelFileError(f"reading {path}: {error}") from error


def _version(text: str, name: str) -> object:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return content.get(name) if isinstance(content, dict) else None


def _refuse_newer(path: Path, found: object, known: int) -> None:
    if isinstance(found, int) and found > known:
        raise ModelFileError(
            f"reading {path}: it was written by a newer version ({found}, this one knows {known}); "
            "update forwardbook"
        )


def _faulty(path: Path, error: ValidationError) -> ModelFileError:
    """Everything that is wrong with a file, the first of many."""
    faults = [f"  {'.'.join(map(str, one['loc'])) or 'the file'}: {one['msg']}" for one in error.errors()]
    shown = faults[:FAULTS] + ([f"  and {len(faults) - FAULTS} more"] if len(faults) > FAULTS else [])
    heading = f"reading {path}: it is no architecture of a model, as --generate-arch writes it:"
    return ModelFileError("\n".join([heading, *shown]))


def _checked(model_id: str) -> str:
    if not _ID.fullmatch(model_id):
        raise ModelFileError(f"{model_id!r} is no name for a file; use letters, digits, dots and dashes")
    return model_id


def _spelt(name: str) -> str:
    """What is compared of an id."""
    return _NUMBERED.sub("", name.lower())

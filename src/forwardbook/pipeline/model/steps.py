"""The steps around an analysis: structure, entries and parameters of a model kept, and held against it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from forwardbook.models.populated import Opinion, Populated
from forwardbook.models.second_account import opinions, summary
from forwardbook.pipeline.model.find import config_digest
from forwardbook.pipeline.model.pipeline import Model
from forwardbook.pipeline.model.populate import database_digest, populated
from forwardbook.schema import Entry
from forwardbook.workspace import Database, DatabaseError, Workspace
from forwardbook.workspace.model_files import ModelFileError, ModelFiles, read_populated


@dataclass
class Steps:
    """One model in a workspace, by the name that its user has for it."""

    model: Model
    kept: ModelFiles
    name: str
    workspace: Workspace
    _database: Database | None = field(default=None, repr=False)

    @property
    def database(self) -> Database:
        """The module database as it is now."""
        if self._database is None:
            self._database = self.workspace.load()
        return self._database

    def slug(self) -> str:
        """The name for files: the user's own name of a model with `/` as `-`, else its id."""
        one = self.model.architecture
        alias = self.name.lower() in (alias.lower() for alias in one.aliases)
        return self.name.replace("/", "-") if alias else one.model_id.replace("/", "-")

    def write_architecture(self) -> Path:
        """The structure on disk."""
        return self.kept.write(self.model.architecture, self.slug())

    def kept_architecture(self) -> bool:
        """Whether the structure is at hand under its id already."""
        return self.kept.find(self.model.architecture.model_id) == self.model.architecture

    def populate(self) -> Populated:
        """The parameters of every layer now, and what the entries say of the formulas derived so far."""
        found = populated(self.model.architecture, self.model.module(), self.database)
        return found.model_copy(update={"opinions": self.opinions(found)})

    def write_populated(self, found: Populated) -> Path:
        """The parameters on disk."""
        return self.kept.write_populated(found, self.slug())

    def fresh(self, file: Path | None = None) -> Populated | None:
        """Parameters that were populated before, for this config and these entries."""
        named = [read_populated(file)] if file is not None and _is_populated(file) else []
        digest = config_digest(self.model.architecture)
        names = dict.fromkeys((self.slug(), self.model.architecture.model_id))
        kept = (one for name in names for one in self.kept.populated(name))
        for found in (*named, *kept):
            same = found.config_digest == digest
            if same and found.database_digest == database_digest(found.layers[0], self.database):
                return found
        return None

    def opinions(self, found: Populated) -> dict[str, list[Opinion]]:
        """By phase, what the entries say of the formulas derived so far, with these parameters."""
        told: dict[str, list[Opinion]] = {}
        for phase in self.model.costs.phases if self.model.costs else []:
            if phase.phase not in told:
                told[phase.phase] = opinions(phase, found, self.entry)
        return told

    def entry(self, key: str) -> Entry | None:
        """The entry of a key with its formulas; None where it cannot be read."""
        try:
            return self.database.resolved(key)[1]
        except (DatabaseError, KeyError):
            return None


def agreement(found: Populated | None, phases: Sequence[str]) -> dict[str, object]:
    """What the module database says of the phases analysed, as a report has it."""
    if found is None or not any(phase in found.opinions for phase in phases):
        return {}
    return summary([one for phase in phases for one in found.opinions.get(phase, [])])


def _is_populated(file: Path) -> bool:
    try:
        read_populated(file)
    except ModelFileError:
        return False
    return True

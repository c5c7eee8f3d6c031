"""What the catalogue keeps of classes and of units of work, as frozen records; and their file on disk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final, Literal

from pydantic import Field, JsonValue, ValidationError

import forwardbook
from forwardbook.errors import ForwardbookError
from forwardbook.schema import Record
from forwardbook.workspace import Workspace, write_atomically
from forwardbook.workspace.storage import drop_unfinished, locked

CATALOGUE_NAME: Final = "catalogue.json"
CATALOGUE_VERSION: Final = 1
UNIT: Final = "unit"
"""Under this name the diagnostics of a response hold a unit's result."""

OF_USERS: Final = "what a person gave"
"""The way of a class that was analysed with --init, --input or --config: a build leaves its entry."""

State = Literal["exact", "bounded", "assumed", "pinned", "wrong", "unproved", "unreached"]
"""What came of a class: the verdict of its entry; `unreached` where no forward() that ran called it."""

Kind = Literal[
    "exception",  # the adapter names it as data, with the reason
    "not held",  # no model that could be built has it in its tree
    "not called",  # one has, and forward() did not call it
    "refuted",  # formulas were derived and measurement gave other numbers
    "no rule",  # an operation whose cost no rule states
    "disputed",  # a judge that shares no rule with the formulas disagrees
    "hangs on data",  # a named size of data remains
    "decided for data",  # a branch on data was decided
    "at fixed numbers",  # what holds at fixed numbers of a size alone
    "not proved",  # too few sizes could be run, or what would be stored does not hold by itself
    "source",  # its text cannot be read
]
"""What keeps a class from more beside the stages of `ProblemKind`."""


class ClassResult(Record):
    """One class of the catalogue: what came of it, and if nothing was proved why and where."""

    name: str
    defines: bool = True
    """Whether forward() is written in its own body; else it is inherited."""
    state: State
    kind: str = ""
    """What kept it from more, in a word: a `Kind` or a `ProblemKind`."""
    reason: str = ""
    place: str = ""
    way: str = ""
    """The model, or the row of data, through which it was reached."""
    digest: str = ""
    """Of a proved class, the hash of its code with all names of its family taken out."""
    same_as: str = ""
    """The key of the entry whose formulas it shares."""


class WayResult(Record):
    """One way that was tried: which classes it reached, or why it did not run."""

    name: str
    model_type: str = ""
    reached: int = 0
    kind: str = ""
    reason: str = ""
    place: str = ""
    lacks: str = ""
    """The package that an import asked for in vain."""


class UnitRecord(Record):
    """The classes of one unit as of one state of their sources (`stamp`)."""

    stamp: str
    classes: tuple[ClassResult, ...] = ()
    ways: tuple[WayResult, ...] = ()
    model_types: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Full names of the models of each model type."""


class Spent(Record):
    """What one unit took: seconds by the clock and of the processor, and megabytes at the fullest."""

    seconds: float = 0.0
    processor: float = 0.0
    megabytes: float = 0.0


class UnitResult(Record):
    """All that a child process gives back of a unit: its record, entries by full class name, its costs."""

    unit: str
    library: str
    record: UnitRecord
    entries: dict[str, dict[str, JsonValue]] = Field(default_factory=dict)
    spent: Spent = Spent()
    stands: tuple[str, ...] = ()
    """Classes that a proof is stored of, in this state of the sources, and of which this try gave none."""


class ModelTotals(Record):
    """One model of a model type, called once: what was measured, and what formulas say of the same call."""

    unit: str
    model: str
    sizes: dict[str, int] = Field(default_factory=dict)
    calls: int = 0
    """Calls that a regime of the class's entry speaks of."""
    equal: int = 0
    """Those of which one gives every number of every line."""
    unequal: tuple[str, ...] = ()
    """Classes with a call of which none does."""
    unclaimed: tuple[str, ...] = ()
    """Classes with an entry that does not speak of their calls here: in the sum they are as measured."""
    measured: dict[str, int] = Field(default_factory=dict)
    formula: dict[str, int] = Field(default_factory=dict)
    """What the entry of the model itself gives."""
    tree: dict[str, int] = Field(default_factory=dict)
    """What the formulas of the innermost classes with an entry give, and what the others do beside them."""
    problem: str = ""

    @property
    def agrees(self) -> bool:
        """Whether formulas speak of the run, the sum over its tree is what was measured, and so all they say.

        The entry of the model itself may have been derived inside another model, in other names: then it is
        no account of this run.
        """
        told = self.calls > 0 and self.calls == self.equal and self.formula in ({}, self.measured)
        return told and bool(self.measured) and self.measured == self.tree


class LibraryRecord(Record):
    """One library: its version, the state of all its files, its units and totals of model types by name."""

    version: str = ""
    stamp: str = ""
    classes: int = 0
    """How many were found, in units that were worked on or not."""
    units: dict[str, UnitRecord] = Field(default_factory=dict)
    totals: dict[str, ModelTotals] = Field(default_factory=dict)


class Catalogue(Record):
    """The file catalogue.json as a whole."""

    catalogue_version: Literal[1] = 1
    libraries: dict[str, LibraryRecord] = Field(default_factory=dict)


def catalogue_path(workspace: Workspace) -> Path:
    """Where a workspace keeps its catalogue."""
    return workspace.root / CATALOGUE_NAME


def read_catalogue(workspace: Workspace) -> Catalogue:
    """The catalogue of a workspace; an empty one where there is none."""
    return _read(catalogue_path(workspace))


def known_catalogue(workspace: Workspace) -> Catalogue:
    """The catalogue of a workspace, and of libraries that it was not built of what this package came with."""
    shipped = _read(Path(forwardbook.__file__).parent / CATALOGUE_NAME)
    return Catalogue(libraries={**shipped.libraries, **read_catalogue(workspace).libraries})


def _read(path: Path) -> Catalogue:
    if not path.is_file():
        return Catalogue()
    try:
        return Catalogue.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, ValidationError) as error:
        raise ForwardbookError(
            f"reading {path}: it is no catalogue that we read: {str(error).splitlines()[0]}; "
            "move it away to build it afresh"
        ) from error


def write_catalogue(catalogue: Catalogue, workspace: Workspace) -> None:
    """Put the catalogue down: sorted, a line for each value that says something."""
    content = catalogue.model_dump(mode="json", exclude_defaults=True)
    content["catalogue_version"] = CATALOGUE_VERSION
    text = json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    path = catalogue_path(workspace)
    with locked(workspace.database_path):
        drop_unfinished(path)
        write_atomically(path, text)

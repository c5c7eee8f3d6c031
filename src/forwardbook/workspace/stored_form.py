"""The form of entries in files, as models: what `packing` writes and whoever reads the files may rely on."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field, JsonValue

from forwardbook.schema import (
    CodeLocation,
    Derivation,
    Formula,
    Given,
    Parameter,
    Proposal,
    Record,
    Rewritten,
    Unresolved,
    Validation,
    Verdict,
)


class Part(Record):
    """What stands in a file; a field that is left out has the value that says nothing."""

    model_config = ConfigDict(extra="forbid", frozen=True, title=None)


class StoredStatement(Part):
    """A statement of the source that runs, once for all regimes."""

    at: str = Field(pattern="^[0-9]+(-[0-9]+)?[b-j]?$")
    """Its lines, first and last; a letter tells those apart that have the same lines in several files."""
    code: str
    operations: tuple[str, ...] = ()
    chain: tuple[str, ...] = ()


class StoredLine(Part):
    """What a statement costs in a regime; a quantity that is left out is 0."""

    at: str
    same: str = Field(default="", alias="as")
    """The earlier regime in which it costs the same."""
    flops: Formula = "0"
    pointwise_ops: Formula = "0"
    reads: Formula = "0"
    writes: Formula = "0"
    operations: tuple[str, ...] = ()
    """Where they are not those of the statement."""
    chain: tuple[str, ...] = ()


class StoredCall(Part):
    """A call of a submodule."""

    line: int
    attribute: str
    class_name: str
    times: Formula = "1"
    bindings: dict[str, Formula] = Field(default_factory=dict)


class StoredJudge(Part):
    """A second opinion."""

    name: str
    quantity: str
    agreed: int
    asked: int
    remark: str = ""
    ours: int | None = None
    theirs: int | None = None
    file: str = ""
    line: int = 0
    line_is: Literal["", "difference", "peak"] = ""


class StoredProof(Part):
    """The measurements behind a verdict: of each size and quantity a column, a number for each point."""

    verdict: Verdict
    reason: str = ""
    device: str
    dtype: str
    sizes: dict[str, tuple[int, ...]] = Field(default_factory=dict)
    measured: dict[str, tuple[int, ...]] = Field(default_factory=dict)
    predicted: dict[str, tuple[int, ...]] = Field(default_factory=dict)
    """Only where it is not what was measured."""
    lines_checked: int = 0
    judges: tuple[StoredJudge, ...] = ()
    static_agrees: bool | None = None


class StoredRegime(Part):
    """One shape of the cost; what it has in common with an earlier regime is `as` that one."""

    name: str
    context: str = ""
    given: tuple[str, ...] | str = ()
    choices: dict[str, JsonValue] | str = Field(default_factory=dict)
    conditions: tuple[int, ...] | str
    """Places in the conditions of the entry."""
    assumptions: tuple[str, ...] | str = ()
    parameters: tuple[str, ...] | str = ()
    formulas: dict[str, Formula] | str
    lines: tuple[StoredLine, ...] | str
    reasoning: str | None = None
    """Where it is not what follows from the statements and the reasons of the entry."""
    memory_reasoning: str
    submodule_calls: tuple[StoredCall, ...] | str
    proof: StoredProof | str | None = None


class StoredEntry(Part):
    """All that is known of one class."""

    full_class_name: str
    library: str
    code_location: CodeLocation
    source_hash: str
    code_hash: str = ""
    versions: dict[str, str] = Field(default_factory=dict)
    parameters: tuple[Parameter, ...] = ()
    statements: tuple[StoredStatement, ...] = ()
    conditions: tuple[str, ...] = ()
    reasons: dict[str, str] = Field(default_factory=dict)
    """Why operations cost what they cost."""
    regimes: tuple[StoredRegime, ...] = ()
    unresolved: tuple[Unresolved, ...] = ()
    derived_by: tuple[Derivation, ...] = ()
    given: Given | None = None
    defaults: dict[str, JsonValue] = Field(default_factory=dict)
    call_defaults: dict[str, JsonValue] = Field(default_factory=dict)
    proposal: Proposal | None = None
    rewritten: Rewritten | None = None
    same_as: str | None = None
    validation: Validation = Validation()
    generated_file_name: str = ""
    generated_class_name: str = ""


class PlainEntry(Part):
    """An entry in the form of the code, where it has no other."""

    plain: dict[str, JsonValue]


class IndexRow(Part):
    """The names of an entry that is in the file of its family."""

    full_class_name: str = ""
    library: str = ""
    same_as: str | None = None
    generated_file_name: str = ""
    generated_class_name: str = ""


class IndexedFamily(Part):
    """A file `module_db/<family>.json`: how long it is, and the names of its entries."""

    bytes: int
    entries: dict[str, IndexRow]


class DatabaseFile(Part):
    """The file module_db.json, or one of a family of classes in the folder `module_db` beside it."""

    schema_version: Literal[2]
    rules_version: str = ""
    entries: dict[str, StoredEntry | PlainEntry]
    families: dict[str, IndexedFamily] = Field(default_factory=dict)


def json_schema() -> dict[str, object]:
    """The JSON schema of module_db.json and of the files in `module_db`."""
    described = DatabaseFile.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **described}

"""The record: what the database says of a class, as frozen models; formulas are strings."""

from __future__ import annotations

import re
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from forwardbook.saying import ALONE, CALLED_AS, OF_DATA, at_place
from forwardbook.stored_names import ClassName, DottedName, FileName, Key, PlainName, SourceFile, Symbol

SCHEMA_VERSION: Final = 2

Formula = str
"""A string of the formula language, such as `2 * {batch_size} * {hidden_size}`."""

Verdict = Literal["exact", "bounded", "assumed", "pinned", "wrong", "unproved"]
"""`exact`: every judge that had an opinion agrees. `bounded`: a named size of data remains. `assumed`: a
branch on data was decided. `pinned`: it holds at fixed numbers of what a caller chooses, or was proved there
alone. `wrong`: measurement refutes it. `unproved`: nothing measured confirms it, or a judge disagrees."""
PROVED: Final[frozenset[str]] = frozenset({"exact", "bounded", "assumed", "pinned"})
"""The verdicts of formulas that give what was measured, under their conditions and assumptions."""
Derivation = Literal["symbolic", "static", "agent"]

MEMORY_QUANTITIES: Final = ("reads", "writes", "weights", "boundary", "intermediates", "peak")
QUANTITIES: Final = ("flops", "pointwise_ops", *MEMORY_QUANTITIES)
"""Every quantity of a regime, in the order in which people read them."""
PER_LINE: Final = ("flops", "pointwise_ops", "reads", "writes")
"""Those that every line has a share of."""

WIDTH_MEANINGS: Final = {
    "w_dtype_bytes": "bytes of one element of the weights",
    "a_dtype_bytes": "bytes of one element of the activations",
    "kv_dtype_bytes": "bytes of one element of the key-value cache",
}
WIDTH_NAMES: Final = tuple(WIDTH_MEANINGS)
"""Symbols that are bytes of one element: of weights, of activations, of the key-value cache."""

USUAL_SIZES: Final = {"batch_size": 1, "seq_len": 2048, "kv_len": 2048, **dict.fromkeys(WIDTH_NAMES, 2)}
"""One sequence of ordinary length in 16 bits: a call where nobody says another, and its regimes allow it."""


class Record(BaseModel):
    """A frozen value; a field that the schema does not know is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class CodeLocation(Record):
    """Where the class is written; `file` is relative to the folder that holds its package."""

    file: SourceFile
    line_start: int = Field(ge=1)
    line_end: int = Field(ge=1)


class Parameter(Record):
    """A symbol of the formulas: what it means and where its value comes from."""

    name: Symbol
    meaning: str = ""
    source: str = ""

    @property
    def is_of_call(self) -> bool:
        """Whether who calls forward() chooses it, with what is handed in."""
        return self.source in _OF_CALL or self.source.endswith(".forward")

    @property
    def is_of_data(self) -> bool:
        """Whether only data decides it."""
        return self.source.startswith(OF_DATA)


_OF_CALL: Final = frozenset({"forward", "--input", "past_key_values"})


class Unresolved(Record):
    """An operation whose cost is unknown, never counted as zero."""

    file: str
    line: int
    operation: str
    reason: str


class FlopLine(Record):
    """What one line of forward() computes, the operations it issued and the helpers they came through."""

    line: int
    end_line: int
    code: str
    flops: Formula
    pointwise_ops: Formula
    operations: tuple[str, ...] = ()
    chain: tuple[str, ...] = ()


class MemoryLine(Record):
    """The bytes one line of forward() moves."""

    line: int
    end_line: int
    code: str
    reads: Formula
    writes: Formula


class SubmoduleCall(Record):
    """A call of a submodule: its parameters (`bindings`) as formulas in the names of the caller."""

    line: int
    attribute: str
    class_name: str
    times: Formula = "1"
    """How often in the run that the formulas were read from, where loops and lists of layers are short."""
    bindings: dict[str, Formula] = Field(default_factory=dict)


class FlopAnalysis(Record):
    """Arithmetic in total and per line; the lines sum to the total."""

    flops: Formula
    pointwise_ops: Formula
    lines: tuple[FlopLine, ...] = ()
    reasoning: str = ""
    submodule_calls: tuple[SubmoduleCall, ...] = ()


class MemoryAnalysis(Record):
    """Bytes in total and per line; the lines sum to the total of reads and writes."""

    reads: Formula
    writes: Formula
    weights: Formula
    boundary: Formula
    intermediates: Formula
    peak: Formula
    lines: tuple[MemoryLine, ...] = ()
    reasoning: str = ""


class ProofPoint(Record):
    """One assignment of sizes: what the formulas predict and what was measured."""

    sizes: dict[str, int]
    predicted: dict[str, int]
    measured: dict[str, int]


class Judge(Record):
    """A second opinion that does not share our rules: how often it was asked and how often it agreed."""

    name: str
    quantity: str
    agreed: int
    asked: int
    remark: str = ""
    ours: int | None = None
    theirs: int | None = None
    """The two numbers, where it was asked once."""
    file: str = ""
    line: int = 0
    """Where they part, if they do: a line of the source."""
    line_is: Literal["", "difference", "peak"] = ""
    """The line at which the two differ first, or, where nobody can tell, the one at which our peak stands."""

    @property
    def disagrees(self) -> bool:
        """Whether it said otherwise at least once."""
        return self.agreed < self.asked


class Proof(Record):
    """The measurements behind a verdict."""

    verdict: Verdict
    reason: str = ""
    """Why it is no better."""
    device: str
    dtype: str
    points: tuple[ProofPoint, ...] = ()
    lines_checked: int = 0
    judges: tuple[Judge, ...] = ()
    static_agrees: bool | None = None


class Regime(Record):
    """One shape of the cost: the conditions under which it holds, and its formulas."""

    name: str
    context: str = ""
    given: tuple[str, ...] = ()
    """Of each of its calls that gave others, the parameters of forward() that had a value: neither None nor
    the default. Nothing where it is not known."""
    choices: dict[str, JsonValue] = Field(default_factory=dict)
    """Arguments of the constructor and of forward() that are no sizes, with the values that its calls have;
    `given` for a tensor where the default is none."""
    conditions: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    parameters: tuple[Symbol, ...] = ()
    flop_analysis: FlopAnalysis
    memory_analysis: MemoryAnalysis
    proof: Proof | None = None

    @property
    def scenario(self) -> str:
        """What it is named after: `decode` of `decode, float32 2`."""
        return self.name.partition(", ")[0].rstrip("0123456789 ")

    @property
    def places(self) -> tuple[str, ...]:
        """Where below a model it is called, `layers.*.mlp`; nowhere, of a class that was called by itself."""
        found = self.context.startswith(CALLED_AS)
        return tuple(self.context.removeprefix(CALLED_AS).split(", ")) if found else ()

    @property
    def points(self) -> tuple[ProofPoint, ...]:
        """Those of its proof; none where it has none."""
        return self.proof.points if self.proof is not None else ()

    def is_called_at(self, path: str) -> bool:
        """Whether it is of calls at a path below the model: `layers.*.mlp` of those at `layers.3.mlp`."""
        alone = not path and self.context == ALONE
        return alone or any(at_place(place, path) for place in self.places)

    def formula(self, quantity: str) -> Formula:
        """The formula of one of QUANTITIES."""
        analysis = self.memory_analysis if quantity in MEMORY_QUANTITIES else self.flop_analysis
        return str(getattr(analysis, quantity))


class Validation(Record):
    """How far the entry can be trusted, and why."""

    human_validated: bool = False
    verdict: Verdict = "unproved"
    reason: str = ""


class Given(Record):
    """What a person gave so that the class could be built and called."""

    config: dict[str, JsonValue] | None = None
    init: dict[str, str] = Field(default_factory=dict)
    inputs: dict[str, str] = Field(default_factory=dict)


class Proposal(Record):
    """Who proposed formulas that were then measured: the model, its prompt, and what asking took."""

    model: str
    prompt_version: str
    attempts: int = 0
    """How many proposals the measurement refuted before this one."""
    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: str = "0"
    counted: dict[str, int] = Field(default_factory=dict)
    """Names that stand for how often a line of forward() runs, and that line."""


class Rewritten(Record):
    """Formulas as the calculator's template can render them, by the formula; equal as polynomials."""

    model: str
    prompt_version: str
    formulas: dict[str, str]


class Entry(Record):
    """All that is known of one class; `same_as` is the key of the entry that holds its formulas."""

    full_class_name: DottedName
    library: PlainName
    code_location: CodeLocation
    source_hash: str
    code_hash: str = ""
    """Of all own code that building and calling it reaches; empty for classes of installed packages."""
    versions: dict[str, str] = Field(default_factory=dict)
    parameters: tuple[Parameter, ...] = ()
    regimes: tuple[Regime, ...] = ()
    unresolved: tuple[Unresolved, ...] = ()
    derived_by: tuple[Derivation, ...] = ()
    given: Given | None = None
    defaults: dict[str, JsonValue] = Field(default_factory=dict)
    """Each parameter of the constructor whose default is a number, a boolean, None, a text or a list of
    these, and that default, and so each whole number of its config; nothing where it is not known."""
    call_defaults: dict[str, JsonValue] = Field(default_factory=dict)
    """The same of forward()."""
    proposal: Proposal | None = None
    rewritten: Rewritten | None = Field(default=None, exclude_if=lambda given: given is None)
    same_as: Key | None = None
    validation: Validation = Validation()
    generated_file_name: FileName = ""
    generated_class_name: ClassName = ""

    @property
    def class_name(self) -> str:
        """The last part of the full class name."""
        return self.full_class_name.rpartition(".")[2]

    @property
    def operations(self) -> frozenset[str]:
        """Every operation that a line of any regime issued, `aten.mm`, and those that are unresolved."""
        lines = (line for regime in self.regimes for line in regime.flop_analysis.lines)
        issued = (name.partition(" x")[0] for line in lines for name in line.operations)
        return frozenset(issued) | {one.operation for one in self.unresolved}


def snake_case(name: str) -> str:
    """`GPT2MLPBlock` as `gpt2_mlp_block`, `transformers_LlamaMLP` as `transformers_llama_mlp`."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return re.sub(r"_+", "_", words).lower()

"""Into a child process goes a class to derive and prove; back come its entry, or the problem."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field, JsonValue

from forwardbook.schema import Record

Derive = Literal["static", "symbolic", "both"]

ProblemKind = Literal[
    "",  # none
    "import",  # the module of the class cannot be imported
    "needs",  # constructor arguments or inputs are unknown; the message says which and how to give them
    "constructor",  # __init__ raised
    "forward",  # forward() raised
    "unsupported",  # neither derivation can express it
    "wrong",  # the measurement refuted the formula; diagnostics hold sizes, line, predicted, measured
    "timeout",
    "memory",
    "fork",
    "crash",  # the process died of a signal
    "internal",  # a fault of ours
]


class Request(Record):
    """One class to derive and prove; everything a fresh process must know."""

    target: str
    """The full class name."""
    file: str | None = None
    """The source file, for a class that is in no installed package."""
    roots: tuple[str, ...] = ()
    """Folders to import the user's code from, first on sys.path."""
    config_file: str | None = None
    init: dict[str, str] = Field(default_factory=dict)
    inputs: dict[str, str] = Field(default_factory=dict)
    derive: Derive = "both"
    points: int = Field(default=3, ge=1)
    """How many random assignments of sizes the proof measures."""
    seed: int = 0
    explore: bool = True
    """Whether branches not taken are run as further regimes."""
    claim: dict[str, JsonValue] | None = None
    """Formulas that somebody claims, to be held against runs in place of deriving any."""
    catalogued: bool = False
    """Whether the call may be found by trying, as a catalogue finds it, where nobody said how."""
    flips: bool = True
    """Whether booleans of the configuration are set the other way too, as part of that."""
    wanted: tuple[str, ...] = ()
    """For a unit of the catalogue: the full names of its classes; `target` is then the unit's name.

    For stored entries: classes that call them, in whose models they are looked for.
    """
    budget: float = 0.0
    """For a unit of the catalogue: the seconds of processor time after which it gives back what it has."""
    stored: dict[str, JsonValue] = Field(default_factory=dict)
    """Entries by key, to be measured again at larger sizes; `budget` is then the seconds for each."""
    kinds: dict[str, str] = Field(default_factory=dict)
    """Of classes of stored entries the model type in whose names their formulas are."""
    scale: int = Field(default=1, ge=1)
    """How many times larger."""


class Response(Record):
    """The entry as JSON (without generated names), or what went wrong; both where an entry was refuted."""

    entry: dict[str, JsonValue] | None = None
    problem: str | None = None
    """The message for a person: what was being done, class and line, what was found, what to do next."""
    told: str = ""
    """The problem without any text that the analysed code made as it ran: for a model, and for files."""
    problem_kind: ProblemKind = ""
    diagnostics: dict[str, JsonValue] = Field(default_factory=dict)

    def plainly(self, target: str) -> str:
        """What a model is told of the problem."""
        return self.told or f"{target}: {_SAID[self.problem_kind]}"


_SAID: Final[dict[ProblemKind, str]] = {
    "": "nothing came back",
    "import": "its module cannot be imported",
    "needs": "it is not known how to build or call it",
    "constructor": "its constructor raised an error",
    "forward": "its forward() raised an error",
    "unsupported": "neither derivation can express it",
    "wrong": "measurement refuted its formula",
    "timeout": "it was not done in the time that it may take",
    "memory": "it needs more memory than it may take",
    "fork": "it tried to fork its process",
    "crash": "its process ended before it answered",
    "internal": "forwardbook failed",
}

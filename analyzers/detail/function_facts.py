"""The nouns of one function: frozen values that say what it takes, gives, raises, catches and changes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from forwardbook.analyzers.detail.steps import Step
from forwardbook.analyzers.index.facts import Span

EffectKind = Literal[
    "file read",
    "file write",
    "network",
    "environment",
    "process",
    "global",
    "attribute",
    "argument",
    "device",
    "output",
    "input",
    "logging",
    "random state",
    "exit",
]
Outcome = Literal["re-raised", "replaced", "ignored", "returned", "logged", "skipped", "exits", "fallback"]
DeviceKind = Literal[
    "transfer", "kernel", "synchronise", "allocate", "stream", "graph", "memory", "compile", "precision"
]
ParallelKind = Literal[
    "thread",
    "process",
    "thread pool",
    "process pool",
    "async",
    "data loader",
    "distributed",
    "lock",
    "queue",
    "shared memory",
]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the file and the text that is the fact there."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class ParameterDetail:
    """One parameter: as written, and its `meaning` quoted from the docstring (empty where it says nothing).

    `documented_type` is the type that the docstring states, for a parameter without annotation.
    """

    name: str
    kind: Literal["/", "", "*", "**", "keyword"] = ""
    annotation: str = ""
    default: str = ""
    meaning: str = ""
    documented_type: str = ""


@dataclass(frozen=True, slots=True)
class Returned:
    """What comes back: the annotation, the docstring's words, and every `return`/`yield` with its value."""

    annotation: str = ""
    meaning: str = ""
    documented_type: str = ""
    values: tuple[Line, ...] = ()
    yields: tuple[Line, ...] = ()


@dataclass(frozen=True, slots=True)
class Raise:
    """An exception: `condition` is the text of the branch or handler around it, `meaning` the docstring's.

    `line` is 0 where only the docstring names it. `message` is the first argument as written.
    """

    line: int
    exception: str
    condition: str = ""
    message: str = ""
    meaning: str = ""
    is_reraise: bool = False


@dataclass(frozen=True, slots=True)
class Caught:
    """A handler: which exceptions, over which lines, and what happens; `text` is the deciding statement."""

    line: int
    exceptions: tuple[str, ...]  # empty: every exception
    guarded: Span
    outcome: Outcome
    text: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """Validation: an `assert`, a `raise` in a branch, or a call whose name says that it validates."""

    line: int
    kind: Literal["assert", "raise", "call"]
    condition: str
    consequence: str = ""


@dataclass(frozen=True, slots=True)
class Cleanup:
    """What is done however the code ends: a `finally`, a `with`, an `__exit__`, `atexit`, `__del__`, ..."""

    line: int
    kind: Literal["finally", "with", "__exit__", "__aexit__", "__del__", "atexit", "finalizer", "close"]
    text: str


@dataclass(frozen=True, slots=True)
class DecoratorDetail:
    """A decorator as written (without `@`) and what it does, where it is known (else empty)."""

    line: int
    text: str
    effect: str = ""


@dataclass(frozen=True, slots=True)
class Effect:
    """A side effect: `text` is the call or assignment as written, `subject` the file, name or attribute."""

    kind: EffectKind
    line: int
    text: str
    subject: str = ""


@dataclass(frozen=True, slots=True)
class EnvironmentVariable:
    """An environment variable: `default` as written (empty: none), `access` says how it is used."""

    name: str
    line: int
    access: Literal["read", "required", "write", "delete", "test"]
    default: str = ""


@dataclass(frozen=True, slots=True)
class Timed:
    """A bracket of code whose duration is taken: the lines between, the clock, and the name of the result."""

    span: Span
    clock: str
    result: str = ""


@dataclass(frozen=True, slots=True)
class DeviceOperation:
    """An operation on a device, or one that waits for it; `why` says what makes it one."""

    kind: DeviceKind
    line: int
    text: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class Parallel:
    """A thread, process, pool, task, data loader or group of devices; `start_method` where one is named."""

    kind: ParallelKind
    line: int
    text: str
    workers: str = ""
    target: str = ""
    start_method: str = ""


@dataclass(frozen=True, slots=True)
class FunctionDetail:
    """One function or method; for the module's own level `qualname` is empty and `signature` too.

    `signature` is the source text from `def` to before the colon, line breaks kept.
    """

    qualname: str
    span: Span
    decorated: Span
    kind: Literal["module", "function", "method", "property", "static method", "class method"]
    signature: str = ""
    parent: str = ""
    is_public: bool = True
    is_async: bool = False
    is_generator: bool = False
    is_abstract: bool = False
    summary: str = ""
    docstring: str = ""
    magic: str = ""  # what calls it, for `__len__` and the like
    parameters: tuple[ParameterDetail, ...] = ()
    returns: Returned = field(default_factory=Returned)
    raises: tuple[Raise, ...] = ()
    caught: tuple[Caught, ...] = ()
    checks: tuple[Check, ...] = ()
    cleanups: tuple[Cleanup, ...] = ()
    decorators: tuple[DecoratorDetail, ...] = ()
    effects: tuple[Effect, ...] = ()
    environment: tuple[EnvironmentVariable, ...] = ()
    timed: tuple[Timed, ...] = ()
    device: tuple[DeviceOperation, ...] = ()
    parallel: tuple[Parallel, ...] = ()
    flow: tuple[Step, ...] = ()

    @property
    def name(self) -> str:
        """The last part of the qualified name."""
        return self.qualname.rpartition(".")[2]

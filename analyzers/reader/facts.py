"""What the reader found in a class, as frozen values that serialise to JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A range of source text: lines from 1, columns from 0, the end column exclusive."""

    line: int
    col: int
    end_line: int
    end_col: int

    def contains(self, other: Span) -> bool:
        """True when the other range lies within this one."""
        starts = (self.line, self.col) <= (other.line, other.col)
        return starts and (other.end_line, other.end_col) <= (self.end_line, self.end_col)


@dataclass(frozen=True, slots=True)
class Attribute:
    """One `self.name = expression` of the constructor."""

    name: str
    expression: str
    kind: str  # submodule | parameter | buffer | config field | argument | constant | expression
    class_name: str  # of a submodule: what is constructed, else ""
    file: str
    span: Span


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement: a simple one whole, a compound one by its header."""

    kind: str
    text: str
    span: Span
    depth: int


@dataclass(frozen=True, slots=True)
class Branch:
    """One `if`, conditional expression or `while`, with what decides it."""

    condition: str
    decided_by: str  # config | argument | attribute | value
    config_fields: tuple[str, ...]
    arguments: tuple[str, ...]
    attributes: tuple[str, ...]
    span: Span
    has_else: bool


@dataclass(frozen=True, slots=True)
class Loop:
    """One `for` or `while`, with the argument of its `range` when it has one."""

    target: str
    iterable: str
    range_argument: str
    span: Span


@dataclass(frozen=True, slots=True)
class ConfigRead:
    """One read of a config field: `config.x` or `self.config.x`."""

    field: str
    span: Span


@dataclass(frozen=True, slots=True)
class FunctionFacts:
    """One function or method that the class runs."""

    qualname: str
    module: str
    file: str
    span: Span
    decorators: tuple[str, ...]
    parameters: tuple[str, ...]
    statements: tuple[Statement, ...]
    branches: tuple[Branch, ...]
    loops: tuple[Loop, ...]
    config_reads: tuple[ConfigRead, ...]
    constants: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything the source of a class says about its construction and its forward()."""

    full_class_name: str
    name: str
    module: str
    file: str
    relative_file: str
    span: Span
    docstring: str
    bases: tuple[str, ...]
    resolution_order: tuple[str, ...]
    decorators: tuple[str, ...]
    attributes: tuple[Attribute, ...]
    constructor: FunctionFacts | None
    makers: tuple[FunctionFacts, ...]
    """Functions of the same file that the constructor calls."""
    forward: FunctionFacts | None
    helpers: tuple[FunctionFacts, ...]
    constants: tuple[tuple[str, str], ...]
    source_hash: str

    def to_json(self) -> dict[str, object]:
        """The facts as plain dictionaries, lists, strings and numbers."""
        return asdict(self)

"""The record of one class: its own cost and its calls, in its own names; formulas are strings.

What a call costs in all is not stored: flops, pointwise operations, reads, writes, weights and intermediates
are a class's own and those of its calls, in sum; its boundary is what it is handed and returns, and what it
reads of its weights; its peak is the largest of its own states and, for each call, what lives then and the
peak within.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field, JsonValue

from forwardbook.schema import Formula, Judge, Record, Unresolved, Verdict
from forwardbook.stored_names import DottedName, Key, PlainName, SourceFile, Symbol

Source = Literal["forward", "config", "constructor", "attribute", "count", "data"]
"""Where a name comes from: a tensor that forward() takes, a field of a config, an argument of the
constructor, an attribute, how often something is repeated, what only data decides."""


class Name(Record):
    """A name of the formulas: where its value comes from, and the class's own default if it has one."""

    name: Symbol
    source: Source
    meaning: str = ""
    default: int | None = None
    least: int | None = None
    """The smallest size that formulas are for, if not the usual one (1, of counts 0): no model is 1 wide."""


class Argument(Record):
    """A tensor that forward() takes: its path among the arguments, its format, its shape as formulas.

    `order` lists its dimensions from the outermost in memory to the innermost where that is not the usual
    order; `expanded` those along which it is one element only.
    """

    path: str
    dtype: str
    """`a` for that of activations, else what it is whatever these are, as `int64`."""
    shape: tuple[Formula, ...]
    order: tuple[int, ...] = ()
    expanded: tuple[int, ...] = ()


class Own(Record):
    """What the lines of a class cost themselves, without the calls that they make.

    Weights may be below zero where calls share one, and intermediates where they hand one on.
    """

    flops: Formula = "0"
    pointwise_ops: Formula = "0"
    reads: Formula = "0"
    writes: Formula = "0"
    weights: Formula = "0"
    weights_read: Formula = "0"
    """Bytes of weights that are read, once each: of an embedding its rows. Part of the boundary."""
    intermediates: Formula = "0"
    boundary: Formula = "0"
    """Without weights: bytes that the call is handed and reads, and those of its new results; of this call
    in all, not beside those within. The boundary in all is this and `weights_read` of it and its calls."""
    states: tuple[Formula, ...] = ()
    """Sums of live bytes beyond weights and inputs, outside all calls, of which one may be the peak."""


class Line(Record):
    """What one line of forward() costs itself, and the operations that it issued."""

    line: int
    end_line: int
    code: str
    flops: Formula = "0"
    pointwise_ops: Formula = "0"
    reads: Formula = "0"
    writes: Formula = "0"
    operations: tuple[str, ...] = ()


class Call(Record):
    """Calls of one class from one line, all alike: how many, and the names of that class in those of here."""

    line: int
    attribute: str
    """`self_attn`; `layers.*` for those of a list."""
    entry: Key
    signature: str
    """Which way of calling that class: regimes of its entry with this signature take it."""
    times: Formula = "1"
    bindings: dict[Symbol, Formula] = Field(default_factory=dict)
    live: Formula = "0"
    """Bytes that live when it is called, beyond weights and inputs of this class; the most of all of them."""


class Point(Record):
    """Sizes at which a run cost exactly what the formulas say, and what that was."""

    sizes: dict[str, int]
    measured: dict[str, int]


class Proof(Record):
    """The measurements behind the formulas, as totals over this class and all that it calls."""

    verdict: Verdict
    reason: str = ""
    points: tuple[Point, ...] = ()
    judges: tuple[Judge, ...] = ()
    static_agrees: bool | None = None


class Regime(Record):
    """One way to call the class, and sizes for which its formulas hold.

    Regimes of one `signature` have the same arguments and choices and differ in conditions, such as one for
    `seq_len == 1`. Each holds where its definitions and its conditions do, and so do those of its calls.
    """

    name: str
    signature: str
    arguments: tuple[Argument, ...] = ()
    choices: dict[str, JsonValue] = Field(default_factory=dict)
    """What constructor and forward() take, and config fields that the class reads, that are no sizes."""
    definitions: dict[Symbol, Formula] = Field(default_factory=dict)
    """Names made of others: `hidden_size` of `num_heads * head_dim`, `seq_len` of `height * width`."""
    conditions: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    own: Own
    lines: tuple[Line, ...] = ()
    calls: tuple[Call, ...] = ()
    proof: Proof


class Entry(Record):
    """All that is known of one class; `same_as` is the key of the entry of equal code that holds it."""

    full_class_name: DottedName
    library: PlainName
    file: SourceFile
    line_start: int = Field(ge=1)
    line_end: int = Field(ge=1)
    source_hash: str
    engine: str
    """Digest of the engine that derived it."""
    versions: dict[str, str] = Field(default_factory=dict)
    names: tuple[Name, ...] = ()
    regimes: tuple[Regime, ...] = ()
    unresolved: tuple[Unresolved, ...] = ()
    same_as: Key | None = None
    verdict: Verdict = "unproved"
    reason: str = ""

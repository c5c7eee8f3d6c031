"""Attention of a recorded model in; the flops over the pairs that masks of known shapes leave out.

Masks of long sequences have too many elements to be looked at, and in short ones a window cannot be told from
none. So the shapes are read off the same model with a window of a few positions, and hold for any.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

import torch

from forwardbook.analyzers.instances.pretrained.whole import Phase
from forwardbook.analyzers.symbolic.attention import Attention
from forwardbook.analyzers.symbolic.patterns import hint_reader
from forwardbook.analyzers.symbolic.run import SymbolicRun, first_that_runs, run_symbolically
from forwardbook.analyzers.symbolic.trace import CallRecord
from forwardbook.formula import Expr, FormulaError

_WINDOWS: Final = (
    "sliding_window",
    "sliding_window_size",
    "window_size",
    "local_window_size",
    "attention_window",
    "attention_window_size",
    "attention_chunk_size",
)
"""Attributes of a layer or its config that say how many positions it attends to."""

Place = tuple[str, int, int]
"""Path of a layer, which of its calls, which attention of that."""


@dataclass(frozen=True)
class Shape:
    """`full`, `causal`, `sliding` (a window that ends with the row), `around` (the row in its middle),
    `chunked` (causal within chunks that do not overlap).

    `window` names what says how wide it is.
    """

    kind: str
    window: str = ""


@dataclass(frozen=True)
class Shapes:
    """Those of a model's masks by place; of one that has no windows they are told where they are met."""

    told: Mapping[Place, Shape | None] = field(default_factory=dict)
    is_read: bool = False

    def executed(
        self, dense: Expr, attention: Attention, call: CallRecord, place: Place, hints: Mapping[str, int]
    ) -> tuple[Expr | None, str]:
        """The flops over the pairs that a mask leaves, and its shape; None where it is not known."""
        windows = _windows(call.module)
        shape = self.told.get(place) if self.is_read else _seen(attention, windows, hints)
        if shape is None or (shape.window and shape.window not in windows):
            return None, "unknown"
        pairs = _pairs(attention, windows)[shape]
        if attention.pairs is not None and attention.pairs != pairs.evaluate(hints):
            return None, "unknown"
        rows, columns = Expr.of(attention.queries), Expr.of(attention.keys)
        try:
            return (dense if shape.kind == "full" else (dense * pairs).exact_div(rows * columns)), shape.kind
        except FormulaError:
            return None, "unknown"


def shapes_of(phase: Phase, dtype: torch.dtype) -> Shapes:
    """The shapes of a phase's masks, read at narrow windows where its config has any."""
    if phase.narrow is None:
        return Shapes()
    try:
        narrow = phase.narrow()
        if narrow is None:
            return Shapes()
        _, run = first_that_runs(narrow.recipe, lambda one: run_symbolically(one, dtype))
    except Exception:  # noqa: BLE001 - analysed code may refuse such windows
        return Shapes()
    return Shapes(dict(_read(run)), is_read=True)


def _read(run: SymbolicRun) -> Iterator[tuple[Place, Shape | None]]:
    hints = hint_reader(run)
    for place, call, attention in attentions(run):
        yield place, _seen(attention, _windows(call.module), hints)


def attentions(run: SymbolicRun) -> Iterator[tuple[Place, CallRecord, Attention]]:
    """Every attention of a run with its place and the call whose forward() issues it."""
    seen: dict[str, int] = {}
    which = {}
    for call in run.trace.calls:
        if not call.failed:
            which[call.index] = seen.get(call.path, 0)
            seen[call.path] = which[call.index] + 1
    counted: dict[int, int] = {}
    for operation in run.trace.operations:
        if operation.attention is not None and operation.call in which:
            call, number = run.trace.calls[operation.call], counted.get(operation.call, 0)
            counted[operation.call] = number + 1
            yield (call.path, which[call.index], number), call, operation.attention


def _windows(module: torch.nn.Module) -> dict[str, int]:
    """The widths that a layer, or the config it holds, says of itself, by where it says so."""
    found: dict[str, int] = {}
    for whose, holder in (("", module), ("config.", getattr(module, "config", None))):
        for name in _WINDOWS:
            value = getattr(holder, name, None)
            if isinstance(value, int) and not isinstance(value, bool) and value > 0:
                found[whose + name] = value
    return found


def _pairs(attention: Attention, windows: Mapping[str, int]) -> dict[Shape, Expr]:
    """The pairs that masks of known shapes leave: the last row sees every column it may."""
    rows, columns = Expr.of(attention.queries), Expr.of(attention.keys)
    two = Expr.const(2)
    triangle = (rows * (rows + 1)).exact_div(two)
    found = {Shape("full"): rows * columns, Shape("causal"): rows * (columns - rows) + triangle}
    for name, width in windows.items():
        # a row sees itself and width - 1 columns before it, or on either side; the outermost rows see fewer
        short = Expr.minimum(rows, Expr.const(width))
        missing = (short * (short - 1)).exact_div(two)
        found[Shape("sliding", name)] = rows * short - missing
        found[Shape("around", name)] = rows * (short * 2 - 1) - missing * 2
        rest = rows.mod(width)
        last = (rest * (rest + 1)).exact_div(two)
        found[Shape("chunked", name)] = rows.floordiv(width) * (width * (width + 1) // 2) + last
    return found


def _seen(attention: Attention, windows: Mapping[str, int], hints: Mapping[str, int]) -> Shape | None:
    """The shape that leaves as many pairs as were counted; none where a window is too wide to be seen."""
    rows = Expr.of(attention.queries).evaluate(hints)
    if rows > 1:
        if any(width >= rows for width in windows.values()):
            return None  # too short to tell
        if Expr.of(attention.keys).evaluate(hints) != rows:
            windows = {}
    else:
        windows = {}
    found = [s for s, pairs in _pairs(attention, windows).items() if pairs.evaluate(hints) == attention.pairs]
    return found[0] if found else None

"""Records a run: every dispatched operation becomes a cost with its place, every call a stretch of them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import cast

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from forwardbook.analyzers.ops import NoRule, Operand, Operation, Size, cost_of, storages_of
from forwardbook.analyzers.symbolic.attention import attention_of
from forwardbook.analyzers.symbolic.composites import COMPOSITE, taken_apart
from forwardbook.analyzers.symbolic.expressions import Expressions
from forwardbook.analyzers.symbolic.fast_path import fast_path
from forwardbook.analyzers.symbolic.given import forward_of, given
from forwardbook.analyzers.symbolic.host import is_kept
from forwardbook.analyzers.symbolic.ledger import Ledger, hint_of
from forwardbook.analyzers.symbolic.places import announced, segment
from forwardbook.analyzers.symbolic.schemas import Schema, schema_of
from forwardbook.analyzers.symbolic.scores import Scores
from forwardbook.analyzers.symbolic.shadows import leaves_in, tensors_in
from forwardbook.analyzers.symbolic.states import copies, named_states, reachable, rewritten
from forwardbook.analyzers.symbolic.storages import Storages, Widths
from forwardbook.analyzers.symbolic.told import Told
from forwardbook.analyzers.symbolic.trace import CallRecord, OperationRecord, Place, Trace, Unruled
from forwardbook.analyzers.symbolic.unwatched import inside, no_inference_mode, unwatched
from forwardbook.analyzers.symbolic.values import Values
from forwardbook.cost import Cost

__all__ = ["Recorder", "Widths"]


class Recorder(TorchDispatchMode):
    """Runs operations (through `Values` where the run is on meta) and writes a `Trace`.

    Sizes in the trace are integers, or expressions where a ledger is given.
    """

    def __init__(
        self,
        widths: Widths,
        dtype: torch.dtype,
        values: Values | None = None,
        ledger: Ledger | None = None,
        expressions: Expressions | None = None,
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.values, self.ledger, self.expressions = values, ledger, expressions
        self.trace = Trace()
        self.storages = Storages(widths, dtype, self.trace, expressions)
        self.scores = Scores(self.trace) if values is not None else None
        self._stack: list[int] = []
        self._given: list[tuple[object, bool]] = []
        self._paths: dict[int, str] = {}
        self.told: Told = {}
        self.places: Callable[[FrameType | None], tuple[Place, ...]] = segment

    # Module calls.

    @contextmanager
    def watching(self, root: torch.nn.Module) -> Iterator[Recorder]:
        """Records every call below `root` made inside the block."""
        for path, module in root.named_modules():
            self._paths.setdefault(id(module), path)
        for tensor in (t for t in (*root.parameters(), *root.buffers()) if not torch.nn.parameter.is_lazy(t)):
            self.storages.weight(tensor)
        original = torch.nn.Module.__call__
        torch.nn.Module.__call__ = announced(original, self.enter, self.leave)  # type: ignore[method-assign]
        try:
            with no_inference_mode(), fast_path(self.trace.assumed), self:
                yield self
        finally:
            torch.nn.Module.__call__ = original  # type: ignore[method-assign]
            if self.values is not None:
                self.trace.assumed.update(self.values.assumed)

    def enter(
        self,
        module: torch.nn.Module,
        args: tuple[object, ...],
        kwargs: dict[str, object],
        frame: FrameType | None,
    ) -> CallRecord:
        """The record of a call that begins: of `module`, from `frame`."""
        call = CallRecord(
            index=len(self.trace.calls),
            module=module,
            path=self._paths.get(id(module), type(module).__name__),
            parent=self._stack[-1] if self._stack else -1,
            site=self.places(frame),
            start=len(self.trace.operations),
        )
        call.guards = (len(self.ledger.guards), 0) if self.ledger else (0, 0)
        call.consumed = (len(self.ledger.consumed), 0) if self.ledger else (0, 0)
        call.events = (len(self.trace.events), 0)
        handed, cached = reachable((args, kwargs))
        for tensor in cached:
            self.storages.cached(tensor)
        forward = forward_of(module)
        named = named_states(forward, args, kwargs)
        for tensor in named:
            self.storages.state(tensor)
        operands = [self.storages.operand(t) for t in (*handed, *cached)]
        call.arguments = {one.storage: one.bytes for one in operands}
        call.given = given(forward, args, kwargs, self.storages.key)
        if self._stack:  # what is called by itself is built as its recipe says
            call.told = self.told.get(id(module), ())
            call.root = self.trace.calls[self._stack[0]].kind
        self.trace.calls.append(call)
        self._stack.append(call.index)
        # a state that comes as tensors is handed back as such, and one that an object holds is in it
        self._given.append(((args, kwargs) if cached else (), bool(named)))
        self._clock()
        return call

    def leave(self, call: CallRecord, out: object, failed: bool) -> None:
        """Completes the record of a call that ends."""
        call.stop = len(self.trace.operations)
        call.failed = failed
        if self.ledger:
            call.guards = (call.guards[0], len(self.ledger.guards))
            call.consumed = (call.consumed[0], len(self.ledger.consumed))
        call.events = (call.events[0], len(self.trace.events))
        handed, cached = reachable(out)
        keys = [self.storages.key(t) for t in (*handed, *cached)]
        call.results = {key: self.storages.born.get(key, 0) for key in keys}
        given, by_name = self._given.pop()
        if given or by_name:
            left = [*cached, *reachable(given)[1], *(handed if by_name else ())]
            call.kept = frozenset(map(self.storages.key, left))
        self._stack.pop()
        self._clock()

    def _clock(self) -> None:
        """Tells the ledger which call runs: 0 is none."""
        if self.ledger:
            self.ledger.clock = self._stack[-1] + 1 if self._stack else 0

    # Operations.

    def __torch_dispatch__(
        self,
        func: torch._ops.OpOverload,
        types: object,
        args: tuple[object, ...] = (),
        kwargs: dict[str, object] | None = None,
    ) -> object:
        kwargs = kwargs or {}
        inputs = tensors_in((args, kwargs))
        if any(t.is_inference() for t in inputs) and func.has_kernel_for_dispatch_key(COMPOSITE):
            with self, inside(func):  # nothing took it apart, as autograd does of other tensors
                return taken_apart(func, args, kwargs)
        func = unwatched(func)
        key = self.storages.key
        keys_in = {key(t) for t in inputs}
        out = self.values.run(func, args, kwargs) if self.values is not None else func(*args, **kwargs)
        if self._stack and func is not torch.ops.aten.size.default:
            self._record(func, args, kwargs, out, keys_in)
        return out

    def _record(
        self,
        func: torch._ops.OpOverload,
        args: tuple[object, ...],
        kwargs: dict[str, object],
        out: object,
        keys_in: set[int],
    ) -> None:
        made = tensors_in(out)
        outputs = made if self.values is None else [t for t in made if not is_kept(t)]
        if made and not outputs:
            return  # the host's, not the device's
        schema = schema_of(func)
        name, named = schema.ruled, dict(schema.named(args, kwargs))
        operation = self._operation(func, schema, named, outputs, keys_in)
        frames = self.places(sys._getframe(2))
        try:
            cost = cost_of(operation)
        except NoRule:
            place = frames[0] if frames else Place("", "", 0, 0, 0, 0)
            self.trace.unruled.append(Unruled(name, place.file, place.line, self._stack[-1]))
            cost = Cost.zero()
        for tensor, operand, size in zip(outputs, operation.outputs, storages_of(operation), strict=True):
            self.storages.bear(operand, size)
            self.storages.grow(tensor, operand)
        self._follow_states(operation)
        self.trace.operations.append(
            OperationRecord(
                name,
                cost,
                frames,
                self._stack[-1],
                self._marks(args, kwargs, out),
                _touched(operation, cost, self.storages.born),
                attention_of(operation, args),
                self._rewritten(operation, cost),
            )
        )
        if self.scores is not None:
            self.scores.follow(operation, named, outputs)

    def _follow_states(self, operation: Operation) -> None:
        """Writes down what of a state is copied unchanged, to be that state, longer."""
        copied = self.trace.copied
        for operand, size in copies(operation):
            if self.storages.is_state(operand.storage) or operand.storage in copied:
                copied.setdefault(operation.output.storage, []).append((operand.storage, size))

    def _rewritten(self, operation: Operation, cost: Cost) -> tuple[tuple[int, object, Size], ...]:
        """States that an operation writes into: the view as such where all of it is written."""
        part = operation.name, len(self.trace.operations)
        return tuple(
            (one.storage, one.view if size == one.bytes else (one.view, *part), size)
            for one, size in rewritten(operation, cast("Size", cost.writes))
            if self.storages.is_state(one.storage)
        )

    def _operation(
        self,
        func: torch._ops.OpOverload,
        schema: Schema,
        named: Mapping[str, object],
        outputs: list[Tensor],
        keys_in: set[int],
    ) -> Operation:
        operands: list[Operand] = []
        arguments = {
            spec.name: self._argument(named[spec.name], spec.written, operands)
            for spec in schema.arguments
            if spec.name in named
        }
        if schema.ruled == "aten.cat" and any(self.storages.is_cached(x.storage) for x in operands):
            for tensor in outputs:  # what is appended to a cache is the cache
                self.storages.cached(tensor)
        outs = tuple(self.storages.operand(t, fresh=self.storages.key(t) not in keys_in) for t in outputs)
        return Operation(schema.ruled, func._overloadname, tuple(operands), outs, arguments)

    def _argument(self, item: object, written: bool, operands: list[Operand]) -> object:
        """An argument as a rule sees it; tensors of it are among the `operands` then."""
        if isinstance(item, Tensor):
            operands.append(self.storages.operand(item, mutated=written))
            return operands[-1]
        if isinstance(item, torch.SymInt):
            return self.storages.size(item)
        if isinstance(item, list | tuple):
            return [self._argument(one, written, operands) for one in item]
        return hint_of(item)

    def _marks(self, args: object, kwargs: object, out: object) -> int:
        if self.expressions is None:
            return 0
        bits = 0
        for leaf in leaves_in((args, kwargs, out)):
            if isinstance(leaf, Tensor):
                for size in leaf.shape:
                    bits |= self.expressions.mark(size)
            else:
                bits |= self.expressions.mark(leaf)
        return bits


def _touched(operation: Operation, cost: Cost, born: Container[int]) -> tuple[tuple[int, object, Size], ...]:
    """Bytes read per storage and view; where a rule reads less than the whole, the rest is that of one input.

    That is the table of a gather, its first input; the matrices of a grouped product, its second. Gathers of
    as many bytes are taken for one, unless what they are gathered by was given to the run in different
    storages (`born` holds those of its own): an encoder and a decoder read rows of one table by two inputs,
    which have equal sizes in some runs and not in others.
    """
    if cost.reads == 0:
        return ()  # views touch nothing
    reads = cast("Size", cost.reads)
    seen: dict[object, tuple[int, object, Size]] = {}
    for operand in operation.inputs:
        seen.setdefault(operand.view, (operand.storage, operand.view, operand.bytes))
    if reads != _sum([size for _, _, size in seen.values()]) and operation.inputs:
        table = operation.inputs[1 if "grouped_mm" in operation.name else 0]
        others = _sum([size for view, (_, _, size) in seen.items() if view != table.view])
        by = tuple(x.storage for x in operation.inputs if not x.is_floating and x.storage not in born)
        seen[table.view] = (table.storage, (table.view, operation.name, str(reads), by), reads - others)
    return tuple(seen.values())


def _sum(sizes: Sequence[Size]) -> Size:
    result: Size = 0
    for size in sizes:
        result = result + size
    return result

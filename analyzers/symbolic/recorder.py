"""Records a run: every dispatched operation becomes a cost with its place; every storage is watched from birth to death."""

from __future__ import annotations

import functools
import sys
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import CodeType, FrameType

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from forwardbook.analyzers.ops import NoRule, Operand, Operation, Size, cost_of
from forwardbook.analyzers.symbolic.expressions import Expressions
from forwardbook.analyzers.symbolic.ledger import Ledger, hint_of
from forwardbook.analyzers.symbolic.trace import CallRecord, Event, OperationRecord, Place, Trace, Unruled
from forwardbook.analyzers.symbolic.values import Values
from forwardbook.cost import Cost


@dataclass(frozen=True, slots=True)
class Widths:
    """Bytes of an element of the model's dtype in weights, activations and the key-value cache."""

    w: Size
    a: Size
    kv: Size


_PLUMBING = ("/torch/", "/forwardbook/analyzers/symbolic/", "/contextlib.py", "/functools.py")
_SEEN_TORCH = ("/torch/nn/modules/", "/torch/nn/functional.py", "/torch/nn/utils/")
_VARIADIC = 0x04 | 0x08  # CO_VARARGS, CO_VARKEYWORDS: the signature of a wrapper that passes everything on


@functools.lru_cache(maxsize=4096)
def _positions(code: CodeType) -> tuple[tuple[int | None, int | None, int | None, int | None], ...]:
    return tuple(code.co_positions())


@functools.lru_cache(maxsize=4096)
def is_plumbing(file: str) -> bool:
    """Whether a file's frames carry calls and compute nothing themselves."""
    file = file.replace("\\", "/")
    if file.endswith("/torch/nn/modules/module.py"):
        return True
    if any(part in file for part in _SEEN_TORCH):
        return False
    return file.startswith("<") or any(part in file for part in _PLUMBING)


def place_of(frame: FrameType) -> Place:
    """The expression that a frame evaluates."""
    line, end_line, col, end_col = _positions(frame.f_code)[frame.f_lasti // 2]
    line = line or frame.f_lineno
    name = frame.f_code.co_qualname
    return Place(frame.f_code.co_filename, name, line, end_line or line, col or 0, end_col or 0)


def within_call(frame: FrameType | None) -> Iterator[FrameType]:
    """The frames from one out to the innermost module call."""
    while frame is not None and frame.f_code is not _CALL_CODE:
        yield frame
        frame = frame.f_back


def segment(frame: FrameType | None) -> tuple[Place, ...]:
    """The places of the frames up to the innermost module call, outermost first, without plumbing."""
    places: list[Place] = []
    wrappers: list[Place] = []
    for one in within_call(frame):
        code = one.f_code
        if not is_plumbing(code.co_filename):
            passes_on = code.co_flags & _VARIADIC == _VARIADIC
            wraps = passes_on and (code.co_name != "forward" or code.co_argcount <= 1)
            (wrappers if wraps else places).append(place_of(one))
    return tuple(reversed(places or wrappers))


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
        super().__init__()
        self.widths, self.dtype, self.values = widths, dtype, values
        self.ledger, self.expressions = ledger, expressions
        self.trace = Trace()
        self._kinds: dict[int, str] = {}
        self._keys: dict[int, int] = {}
        self._born: dict[int, Size] = {}
        self._next = 0
        self._stack: list[int] = []
        self._paths: dict[int, str] = {}
        self.places: Callable[[FrameType | None], tuple[Place, ...]] = segment

    # Module calls.

    @contextmanager
    def watching(self, root: torch.nn.Module) -> Iterator[Recorder]:
        """Records every call below `root` made inside the block."""
        for path, module in root.named_modules():
            self._paths.setdefault(id(module), path)
        for tensor in (t for t in (*root.parameters(), *root.buffers()) if not torch.nn.parameter.is_lazy(t)):
            self._weight(tensor)
        original = torch.nn.Module.__call__
        torch.nn.Module.__call__ = _recorded(self, original)  # type: ignore[method-assign,assignment]
        try:
            with self:
                yield self
        finally:
            torch.nn.Module.__call__ = original  # type: ignore[method-assign]
            if self.values is not None:
                self.trace.assumed.update(self.values.assumed)

    def enter(self, module: torch.nn.Module, args: object, kwargs: object, frame: FrameType | None) -> CallRecord:
        call = CallRecord(
            index=len(self.trace.calls),
            module=module,
            path=self._paths.get(id(module), type(module).__name__),
            parent=self._stack[-1] if self._stack else -1,
            site=self._frames(frame),
            start=len(self.trace.operations),
        )
        call.guards = (len(self.ledger.guards), 0) if self.ledger else (0, 0)
        call.consumed = (len(self.ledger.consumed), 0) if self.ledger else (0, 0)
        call.events = (len(self.trace.events), 0)
        given, cached = _reachable((args, kwargs))
        for tensor in cached:
            self._kinds.setdefault(self._key(tensor), "kv")
        call.arguments = {self._key(t): self._operand(t).bytes for t in (*given, *cached)}
        call.argument_text = _describe(args, kwargs)
        self.trace.calls.append(call)
        self._stack.append(call.index)
        return call

    def leave(self, call: CallRecord, out: object, failed: bool) -> None:
        call.stop = len(self.trace.operations)
        call.failed = failed
        if self.ledger:
            call.guards = (call.guards[0], len(self.ledger.guards))
            call.consumed = (call.consumed[0], len(self.ledger.consumed))
        call.events = (call.events[0], len(self.trace.events))
        given, cached = _reachable(out)
        call.results = {self._key(t): self._born.get(self._key(t), 0) for t in (*given, *cached)}
        self._stack.pop()

    def _frames(self, frame: FrameType | None) -> tuple[Place, ...]:
        return self.places(frame)

    # Storages.

    def _weight(self, tensor: Tensor) -> None:
        key = self._key(tensor)
        self._kinds[key] = "w"
        self.trace.weights[key] = self._operand(tensor).bytes

    def _key(self, tensor: Tensor) -> int:
        """A number for the storage of a tensor that is never given out twice."""
        storage = tensor.untyped_storage()
        key = self._keys.get(storage._cdata)
        if key is None:
            self._next += 1
            key = self._keys[storage._cdata] = self._next
            weakref.finalize(storage, self._died, storage._cdata, key).atexit = False
        return key

    def _died(self, cdata: int, key: int) -> None:
        if self._keys.get(cdata) == key:
            del self._keys[cdata]
        size = self._born.pop(key, None)
        if size is not None:
            self.trace.events.append(Event(key, size, alive=False))

    def _size(self, value: object) -> Size:
        if self.expressions is not None and isinstance(value, torch.SymInt):
            return self.expressions.of(value)
        return int(hint_of(value))  # type: ignore[call-overload,no-any-return]

    def _width(self, tensor: Tensor, key: int) -> Size:
        if tensor.dtype != self.dtype:
            return tensor.element_size()
        return getattr(self.widths, self._kinds.get(key, "a"))  # type: ignore[no-any-return]

    def _operand(self, tensor: Tensor, fresh: bool = False, mutated: bool = False) -> Operand:
        key = self._key(tensor)
        shape = tuple(self._size(s) for s in tensor.shape)
        sizes = [int(hint_of(s)) for s in tensor.shape]  # type: ignore[call-overload]
        strides = [int(hint_of(s)) for s in tensor.stride()]  # type: ignore[call-overload]
        offset = int(hint_of(tensor.storage_offset()))  # type: ignore[call-overload]
        width = self._width(tensor, key)
        distinct = self._distinct(tensor, shape, sizes, strides)
        self.trace.capacity.setdefault(key, distinct * width)
        return Operand(
            shape=shape,
            width=width,
            distinct=distinct,
            storage=key,
            view=(key, offset, region(sizes, strides)),
            fresh=fresh,
            mutated=mutated,
            is_floating=tensor.is_floating_point() or tensor.is_complex(),
        )

    def _distinct(self, tensor: Tensor, shape: Sequence[Size], sizes: list[int], strides: list[int]) -> Size:
        """Distinct elements: an expanded dimension once; overlapping windows (unfold) the span they cover."""
        count: Size = 1
        for size, number, stride in zip(shape, sizes, strides, strict=True):
            if stride != 0 or number == 0:
                count = count * size
        if _overlaps(sizes, strides):
            count = 1
            for size, stride in zip(shape, tensor.stride(), strict=True):
                count = count + (size - 1) * self._size(stride)
        return count

    # Operations.

    def __torch_dispatch__(
        self,
        func: torch._ops.OpOverload,
        types: object,
        args: tuple[object, ...] = (),
        kwargs: dict[str, object] | None = None,
    ) -> object:
        kwargs = kwargs or {}
        keys_in = {self._key(t) for t in _tensors((args, kwargs))}
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
        outputs = [t for t in _tensors(out) if t.device.type != "cpu" or self.values is None]
        if self.values is not None and not outputs and _tensors(out):
            return  # a constant computed on the CPU while the module runs on meta: Python's work, not the device's
        name = func._schema.name.replace("forwardbook_symbolic::", "aten::").replace("::", ".")
        operation = self._operation(func, name, args, kwargs, outputs, keys_in)
        frames = self._frames(sys._getframe(2))
        try:
            cost = cost_of(operation)
        except NoRule:
            place = frames[0] if frames else Place("", "", 0, 0, 0, 0)
            self.trace.unruled.append(Unruled(name, place.file, place.line, self._stack[-1]))
            cost = Cost.zero()
        for operand in operation.outputs:
            if operand.fresh and operand.storage not in self._born:
                self._born[operand.storage] = operand.bytes
                self.trace.events.append(Event(operand.storage, operand.bytes, alive=True))
        self.trace.operations.append(
            OperationRecord(
                name, cost, frames, self._stack[-1], self._marks(args, kwargs, out), _touched(operation, cost)
            )
        )

    def _operation(
        self,
        func: torch._ops.OpOverload,
        name: str,
        args: tuple[object, ...],
        kwargs: dict[str, object],
        outputs: list[Tensor],
        keys_in: set[int],
    ) -> Operation:
        operands: list[Operand] = []
        arguments: dict[str, object] = {}
        for position, spec in enumerate(func._schema.arguments):
            if position < len(args) and not spec.kwarg_only:
                value = args[position]
            elif spec.name in kwargs:
                value = kwargs[spec.name]
            else:
                continue
            writes = spec.alias_info is not None and spec.alias_info.is_write

            def convert(item: object, writes: bool = writes) -> object:
                if isinstance(item, Tensor):
                    operands.append(self._operand(item, mutated=writes))
                    return operands[-1]
                if isinstance(item, torch.SymInt):
                    return self._size(item)
                if isinstance(item, list | tuple):
                    return [convert(i) for i in item]
                return hint_of(item)

            arguments[spec.name] = convert(value)
        if name == "aten.cat" and any(self._kinds.get(x.storage) == "kv" for x in operands):
            for tensor in outputs:  # what is appended to a cache is the cache
                self._kinds.setdefault(self._key(tensor), "kv")
        outs = tuple(self._operand(t, fresh=self._key(t) not in keys_in) for t in outputs)
        return Operation(name, func._overloadname, tuple(operands), outs, arguments)

    def _marks(self, args: object, kwargs: object, out: object) -> int:
        if self.expressions is None:
            return 0
        bits = 0
        for leaf in tree_leaves((args, kwargs, out)):
            if isinstance(leaf, Tensor):
                for size in leaf.shape:
                    bits |= self.expressions.mark(size)
            else:
                bits |= self.expressions.mark(leaf)
        return bits


def region(sizes: list[int], strides: list[int]) -> tuple[tuple[int, int], ...]:
    """The elements that a view covers, whatever the order and grouping of its dimensions: (stride, size) pairs.

    Transposed, flattened and expanded views of the same elements give the same region.
    """
    pairs = sorted(
        ((stride, size) for size, stride in zip(sizes, strides, strict=True) if size != 1 and stride != 0),
        reverse=True,
    )
    merged: list[tuple[int, int]] = []
    for stride, size in pairs:
        if merged and merged[-1][0] == stride * size:
            merged[-1] = (stride, merged[-1][1] * size)
        else:
            merged.append((stride, size))
    return tuple(merged)


def _overlaps(sizes: list[int], strides: list[int]) -> bool:
    """Whether two positions share an element, expanded (stride 0) dimensions apart."""
    reach = 0
    for stride, size in sorted((st, sz) for sz, st in zip(sizes, strides, strict=True) if sz > 1 and st > 0):
        if stride <= reach:
            return True
        reach += stride * (size - 1)
    return False


def _touched(operation: Operation, cost: Cost) -> tuple[tuple[int, object, Size], ...]:
    """Bytes read per storage and view; where a rule reads less than the whole, the rest is that of one input.

    That is the table of a gather, its first input; the matrices of a grouped product, its second.
    """
    if cost.reads == 0:
        return ()  # views touch nothing
    seen: dict[object, tuple[int, object, Size]] = {}
    for operand in operation.inputs:
        seen.setdefault(operand.view, (operand.storage, operand.view, operand.bytes))
    if not cost.reads == sum_of([t[2] for t in seen.values()]) and operation.inputs:
        table = operation.inputs[1 if "grouped_mm" in operation.name else 0]
        others = sum_of([t[2] for view, t in seen.items() if view != table.view])
        seen[table.view] = (table.storage, (table.view, operation.name, str(cost.reads)), cost.reads - others)
    return tuple(seen.values())


def sum_of(sizes: Sequence[Size]) -> Size:
    """The sum of sizes; of none, 0."""
    result: Size = 0
    for size in sizes:
        result = result + size
    return result


def _tensors(tree: object) -> list[Tensor]:
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, Tensor)]


def _reachable(tree: object) -> tuple[list[Tensor], list[Tensor]]:
    """Tensors among arguments or results, and those held by stateful objects among them (a cache)."""
    plain: list[Tensor] = []
    held: list[Tensor] = []
    for leaf in tree_leaves(tree):
        if isinstance(leaf, Tensor):
            plain.append(leaf)
        elif hasattr(leaf, "__dict__") and not isinstance(leaf, torch.nn.Module | type | torch.dtype):
            held += _held(leaf, depth=3)
    return plain, held


def _held(value: object, depth: int) -> list[Tensor]:
    if isinstance(value, Tensor):
        return [value]
    if depth == 0 or isinstance(value, torch.nn.Module):
        return []
    if isinstance(value, dict):
        inner: list[object] = list(value.values())
    elif isinstance(value, list | tuple):
        inner = list(value)
    elif hasattr(value, "__dict__") and not isinstance(value, type) and not callable(value):
        inner = list(vars(value).values())
    else:
        return []
    return [t for item in inner for t in _held(item, depth - 1)]


def _describe(args: object, kwargs: object) -> tuple[str, ...]:
    """Which arguments a call gave: names, with `=None` for those that are None."""
    assert isinstance(args, tuple) and isinstance(kwargs, dict)
    named = [(str(i), a) for i, a in enumerate(args)] + sorted(kwargs.items())
    return tuple(f"{n}=None" if v is None else n for n, v in named)


def _recorded(recorder: Recorder, original: Callable[..., object]) -> Callable[..., object]:
    def recorded_call(self: torch.nn.Module, *args: object, **kwargs: object) -> object:
        call = recorder.enter(self, args, kwargs, sys._getframe(1))
        out: object = None
        failed = True
        try:
            out = original(self, *args, **kwargs)
            failed = False
            return out
        finally:
            recorder.leave(call, out, failed)

    global _CALL_CODE
    _CALL_CODE = recorded_call.__code__
    return recorded_call


_CALL_CODE: CodeType | None = None

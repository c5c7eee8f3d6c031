"""Runs operations on meta, real values along, so that branches on masks, positions, routing go as in eager.

A meta tensor has no data; a model that asks `(mask == 0).all()` would fail. Integer and mask inputs therefore
carry their value (`shadows`); every operation whose inputs all carry one is run on the CPU too. Where a value
comes from weights (router top-k), balanced routing is assumed; where nobody can know a scalar, a default.
Both are written down.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import cast

import torch
from torch import Tensor

from forwardbook.analyzers.symbolic.host import META, is_of_host, kept, leaving, lifted, on_cpu
from forwardbook.analyzers.symbolic.kernel_layouts import on_kernels
from forwardbook.analyzers.symbolic.largest import follow_largest
from forwardbook.analyzers.symbolic.ledger import number_of
from forwardbook.analyzers.symbolic.memory import Memory
from forwardbook.analyzers.symbolic.of_data import DataSizes
from forwardbook.analyzers.symbolic.of_weights import (
    choices_of,
    follow_weights,
    mark,
    note_routing,
    route,
    unmark,
)
from forwardbook.analyzers.symbolic.on_meta import run_on_meta, run_on_values
from forwardbook.analyzers.symbolic.origins import become_numbers, inherit
from forwardbook.analyzers.symbolic.picked import is_place
from forwardbook.analyzers.symbolic.rows_of_data import rows_of_data
from forwardbook.analyzers.symbolic.schemas import schema_of
from forwardbook.analyzers.symbolic.shadows import (
    LIMIT,
    carry,
    cloned,
    elements,
    leaves_in,
    numbers,
    shadow,
    tensors_in,
    zeros,
)
from forwardbook.analyzers.symbolic.shapes_of_values import Shapes, UnknownValue
from forwardbook.analyzers.symbolic.sizes_written import follow, sizes_in
from forwardbook.analyzers.symbolic.statements import code_at
from forwardbook.analyzers.symbolic.uniform import follow_uniform
from forwardbook.saying import CHECKED, DATA, ROUTED

_UNINITIALISED = {"empty", "empty_like", "new_empty", "empty_strided", "new_empty_strided", "empty_permuted"}
_ZEROS = {"zeros", "new_zeros", "zeros_like"}
_RANDOM = {"rand", "randn", "rand_like", "randn_like", "bernoulli", "uniform_", "normal_"}
_WITHOUT_VALUE = _UNINITIALISED | _RANDOM | {"randperm", "randint"}
_SYMBOLS = (torch.SymInt, torch.SymFloat)
_CHOOSING = {"topk", "argmax", "argmin", "max", "min", "sort", "argsort", "multinomial"}


Call = tuple[tuple[object, ...], dict[str, object]]


class Values:
    """Runs one operation on meta tensors and keeps the values up to date; counts what it had to assume."""

    def __init__(self, symbolic: bool, data: DataSizes | None = None) -> None:
        self.symbolic = symbolic
        self.data = data or DataSizes(None)
        self.memory: Memory | None = None
        """Where layouts are remembered: in the call of a symbolic run, not while its module is built."""
        self.assumed: Counter[str] = Counter()
        self.shapes = Shapes(self.data, self.assumed)

    def run(self, func: torch._ops.OpOverload, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
        """The result of `func`, on meta, with values where they follow.

        Raises:
            UnknownValue: the shape of the result depends on a value that nobody has.
        """
        if func in _SIZES:
            return [int(size) for tensor in tensors_in(args) for size in tensor.shape]
        if not self.symbolic:
            return self._ran(func, args, kwargs)
        if func is _ITEM and (held := sizes_in(tensors_in(args)[0])) is not None:
            return held[0]
        out = self._ran(func, args, kwargs)
        follow(func, args, kwargs, out)
        follow_largest(func, args, kwargs, out)
        return out

    def _ran(
        self, func: torch._ops.OpOverload, args: tuple[object, ...], kwargs: dict[str, object]
    ) -> object:
        leaves = leaves_in((args, kwargs))
        given = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
        of_host = is_of_host(given, kwargs)
        symbolic = self.symbolic and any(isinstance(leaf, _SYMBOLS) for leaf in leaves)
        lifting = leaving(given, of_host, symbolic)
        if lifting:
            args, kwargs = lifted(args, kwargs, lifting)
        inputs = tensors_in((args, kwargs)) if lifting else given
        if all(t.is_cpu for t in inputs) and (inputs or (of_host and not symbolic)):
            return on_cpu(func, args, kwargs)
        if of_host and not inputs:
            kwargs = {**kwargs, "device": META}  # it has a symbolic size; its value rides along
        out = self._run_on_meta(func, args, kwargs, inputs)
        return kept(out) if of_host else out

    def _run_on_meta(
        self,
        func: torch._ops.OpOverload,
        args: tuple[object, ...],
        kwargs: dict[str, object],
        inputs: list[Tensor],
    ) -> object:
        schema = schema_of(func)
        name = schema.name
        known = all(shadow(t) is not None for t in inputs) and sum(map(elements, inputs)) <= LIMIT

        def real() -> object:
            return run_on_values(func, args, kwargs)

        if name in ("_local_scalar_dense", "is_nonzero", "item", "equal"):
            known = known and bool(inputs)
            if not known or choices_of(inputs[0]) == 0:
                return self._assumed_scalar(name, inputs[0], real() if known else None)
            note_routing(inputs)
            if inputs[0].dtype not in (torch.bool, torch.uint8):  # how many, and not whether
                become_numbers(inputs)
            return real()
        if schema.dynamic and name not in ("index", "index_put"):
            made = rows_of_data(func, args, kwargs, self.data)
            if made is None:
                made = self.shapes.of_values(name, inputs, known, real)
            follow_weights(tensors_in(made), inputs)
            return made
        indexing = name.startswith(("index", "_index_put", "_unsafe_index")) and len(args) > 1
        if indexing and isinstance(args[1], list | tuple):
            args = (args[0], self.shapes.integer_indices(args[1]), *args[2:])
        if self.memory is not None:
            out = self.memory.run(run_on_meta, func, args, kwargs)
        else:
            out = run_on_meta(func, args, kwargs) if self.symbolic else on_kernels(func, args, kwargs)
        self._follow(func, name, args, kwargs, inputs, known, out, real)
        if name == "_is_all_true" and not known:  # what torch's checks ask; they raise where it is false
            self.assumed[f"{CHECKED} ({name})"] += 1
            unmark(carry(tensors_in(out)[0], torch.tensor(True, device="cpu")))
        return out

    def _assumed_scalar(self, name: str, tensor: Tensor, made_up: object | None) -> object:
        """What Python is told that asks data for a number or a truth: what was made up, else a default."""
        is_truth = name == "equal" or tensor.dtype == torch.bool
        if not is_truth and is_place(tensor):
            return 0
        default = False if is_truth else 1.0 if tensor.is_floating_point() else 1
        value = default if made_up is None else made_up
        if tensor.dtype == torch.int64 and not is_truth:
            number = self.data.number(natural=int(cast(int, value)))
            if number is not None:
                return number
        if is_truth and (answer := self.data.answer()) is not None:
            return answer
        if (loop := self.data.loop()) is not None:
            raise UnknownValue(f"`{code_at(loop)}` asks for a number that only a run with data has")
        kind = "bool" if is_truth else str(tensor.dtype).removeprefix("torch.")
        self.assumed[f"{DATA}{kind} scalar, taken as {value}: {self.data.asking()}"] += 1
        return value

    def _follow(
        self,
        func: torch._ops.OpOverload,
        name: str,
        args: tuple[object, ...],
        kwargs: dict[str, object],
        inputs: list[Tensor],
        known: bool,
        out: object,
        real: Callable[[], object],
    ) -> None:
        outputs = tensors_in(out)
        follow_weights(outputs, inputs)
        if name in _CHOOSING and outputs and not known and inputs[0].is_floating_point():
            dim = _side(name, args, kwargs)
            choices = inputs[0].shape[dim] if inputs[0].dim() else 1
            mark((o for o in outputs if o.dtype == torch.int64), choices)  # also of too many to carry
        follow_uniform(name, args, outputs)
        if not outputs or any(elements(o) > LIMIT for o in outputs):
            return
        mutable = schema_of(func).mutable
        if self.symbolic and (known or not inputs):
            inherit(outputs, (args, kwargs))
        # what is not written before it is read nobody may rely on: zeros do
        is_whole = not (outputs[0].is_floating_point() or outputs[0].is_complex())
        if name in _ZEROS or (name in _UNINITIALISED and is_whole):
            carry(outputs[0], zeros(outputs[0]))
            return
        if name == "clone" and known:
            carry(outputs[0], cloned(inputs[0]))
            return
        if name in _WITHOUT_VALUE:
            return
        if known:
            try:
                values = tensors_in(real())
            except (RuntimeError, TypeError, ValueError):  # an index out of range is one in eager, too
                return
            for output, value in zip(outputs, values, strict=False):
                mutated = mutable and any(output is t for t in inputs)
                if not mutated and tuple(value.shape) == numbers(output.shape):
                    carry(output, value)
        elif mutable:
            for argument, actual in zip(schema_of(func).arguments, args, strict=False):
                if argument.written and isinstance(actual, Tensor) and shadow(actual) is not None:
                    del actual._forwardbook_value  # type: ignore[attr-defined]
        else:
            self._route(name, args, kwargs, outputs)

    def _route(
        self, name: str, args: tuple[object, ...], kwargs: dict[str, object], outputs: list[Tensor]
    ) -> None:
        """Balanced routing: indices chosen by unknown weights go round robin."""
        if name not in _CHOOSING or not args:
            return
        index = outputs[-1]
        source = args[0]
        if index.dtype != torch.int64 or not isinstance(source, Tensor) or not source.is_floating_point():
            return
        dim = _side(name, args, kwargs)
        count = number_of(source.shape[dim]) if source.dim() else 1
        if name in ("argmax", "argmin") and len(args) < 2 and "dim" not in kwargs:
            count = elements(source)
        shape = list(numbers(index.shape))
        flat = torch.arange(max(elements(index), 1))[: elements(index)] % max(count, 1)
        if index.dim() and index.dim() == source.dim():
            moved = shape[:dim] + shape[dim:][1:] + [shape[dim]] if dim != -1 else shape
            carry(index, flat.reshape(moved).movedim(-1, dim).contiguous())
        else:
            carry(index, flat.reshape(shape))
        said = f"{ROUTED}indices of {name} over values from weights go round robin"
        inherit([index], args)
        route([index], said, self.assumed)


def _side(name: str, args: tuple[object, ...], kwargs: dict[str, object]) -> int:
    """Along which side an operation chooses."""
    positions = args[2:3] if name == "topk" else args[1:2]
    dim = kwargs.get("dim", positions[0] if positions else -1)
    return dim if isinstance(dim, int) and not isinstance(dim, bool) and name != "multinomial" else -1


# How C++ code that knows no symbols asks for a shape; the numbers are written down as needed.
_SIZES = {torch.ops.aten.size.default}
# How the value of a tensor becomes one of Python's.
_ITEM = torch.ops.aten._local_scalar_dense.default

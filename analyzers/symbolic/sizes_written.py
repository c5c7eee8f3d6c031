"""Small tensors that hold sizes: their elements stay symbolic through arithmetic, until Python reads them.

A convolution that pads to a multiple of its stride computes the padding in tensors of one element (its
constructor wrote `torch.tensor(stride)`), and a decoder over several levels keeps heights and widths in one.
As numbers alone they would forget the sizes they came from; so each element is kept as what it was computed
from. Floats are taken to be exact: proof compares with runs that round.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence

import torch
from torch import Tensor

from forwardbook.analyzers.symbolic.ledger import hint_of
from forwardbook.analyzers.symbolic.schemas import schema_of
from forwardbook.analyzers.symbolic.shadows import leaves_in, mapped, numbers, shadow, tensors_in

Element = int | float | bool | torch.SymInt | torch.SymFloat | torch.SymBool
Symbol = torch.SymInt | torch.SymFloat | torch.SymBool

MOST = 64
"""Elements of a tensor that are followed: shapes of levels, lengths, numbers of pieces."""

_MOVING = {
    *("detach", "alias", "clone", "lift_fresh", "view", "_unsafe_view", "reshape", "unsqueeze", "squeeze"),
    *("expand", "permute", "transpose", "t", "select", "slice", "cat", "stack", "unbind", "split"),
    *("split_with_sizes", "index_select", "index", "repeat", "flip", "roll", "narrow", "unsafe_split"),
}
_PICKING = {"index_select", "index"}
"""Of those, the ones whose other tensors say which elements, and give none."""


def sizes_in(tensor: Tensor) -> tuple[Element, ...] | None:
    """The elements of a tensor that holds sizes, in order."""
    held: tuple[Element, ...] | None = getattr(tensor, "_forwardbook_sizes", None)
    return held


def hold(tensor: Tensor, elements: Iterable[Element]) -> Tensor:
    """`tensor`, its elements kept as given, if any is symbolic."""
    held = tuple(elements)
    if any(isinstance(one, Symbol) for one in held):
        tensor._forwardbook_sizes = held  # type: ignore[attr-defined]
    return tensor


def as_nested(tensor: Tensor, held: Sequence[Element]) -> object:
    """The elements as `Tensor.tolist` nests them."""
    shape = numbers(tensor.shape)
    if not shape:
        return held[0]
    rest = math.prod(shape[1:])
    rows = (held[i * rest : (i + 1) * rest] for i in range(shape[0]))
    return [as_nested(tensor[0], row) for row in rows] if shape[1:] else list(held)


def written_out(data: object) -> list[Element] | None:
    """The numbers of nested lists that become a tensor, where some are symbolic and they are few."""
    if isinstance(data, Tensor):
        return None
    leaves = leaves_in(data)
    few = 0 < len(leaves) <= MOST and any(isinstance(one, Symbol) for one in leaves)
    if not few or not all(isinstance(one, Element) for one in leaves):
        return None
    return [one for one in leaves if isinstance(one, Element)]


def follow(
    func: torch._ops.OpOverload, args: tuple[object, ...], kwargs: dict[str, object], out: object
) -> None:
    """Keeps the elements of what an operation made of tensors that hold sizes.

    Where that cannot be told, the numbers are used for what they are, which is written down.
    """
    inputs = tensors_in((args, kwargs))
    holding = [one for one in inputs if sizes_in(one) is not None]
    if not holding and not _starts(inputs, args):
        return
    made = None if schema_of(func).mutable else _elements_of(func, args, kwargs, out)
    if made is not None:
        for tensor, elements in zip(tensors_in(out), made, strict=True):
            hold(tensor, elements)
        return
    for tensor in holding:
        needed(sizes_in(tensor) or ())
        if schema_of(func).mutable and any(tensor is one for one in tensors_in(out)):
            del tensor._forwardbook_sizes  # type: ignore[attr-defined]


def needed(elements: Iterable[Element]) -> None:
    """Writes down that numbers are used."""
    for one in elements:
        if isinstance(one, Symbol):
            one.node.evaluate()


def _starts(inputs: Sequence[Tensor], args: Sequence[object]) -> bool:
    """Whether a size meets one known number in a tensor."""
    return (
        len(inputs) == 1
        and any(isinstance(one, torch.SymInt) for one in args)
        and inputs[0].dim() == 0
        and not inputs[0].is_complex()
        and _elements(inputs[0]) is not None
    )


def _elements_of(
    func: torch._ops.OpOverload, args: tuple[object, ...], kwargs: dict[str, object], out: object
) -> list[list[Element]] | None:
    """Those of each tensor that was made; None where the operation is not known to keep them."""
    name = func._schema.name.removeprefix("aten::")
    outputs = tensors_in(out)
    if not outputs or any(math.prod(numbers(one.shape)) > MOST for one in outputs):
        return None
    try:
        if name in _MOVING:
            return _moved(func, name, args, kwargs)
        if name in _REDUCING:
            return _reduced(name, args, kwargs)
        if name == "cumsum":
            return _summed_up(args)
        if name == "constant_pad_nd":
            return _padded(args)
        found = _each(name, args, kwargs, outputs[0])
    except (ArithmeticError, TypeError, ValueError, LookupError):
        return None
    return None if found is None else [found]


def _elements(value: object) -> list[Element] | None:
    """Of a tensor that is known and small, or of a number."""
    if isinstance(value, Element):
        return [value]
    if not isinstance(value, Tensor):
        return None
    held = sizes_in(value)
    if held is not None:
        return list(held)
    known = _known(value)
    if known is None or known.is_complex() or known.numel() > MOST:
        return None
    found: list[Element] = known.detach().reshape(-1).tolist()
    return found


def _known(tensor: Tensor) -> Tensor | None:
    """The values of a tensor: its own on the CPU, on meta those that it carries."""
    return tensor if tensor.device.type == "cpu" else shadow(tensor)


def _moved(
    func: torch._ops.OpOverload, name: str, args: tuple[object, ...], kwargs: Mapping[str, object]
) -> list[list[Element]] | None:
    """The operation on places in place of elements tells where each one went."""
    pool: list[Element] = []
    unknown = False

    def placed(leaf: object) -> object:
        nonlocal unknown
        if not isinstance(leaf, Tensor):
            return hint_of(leaf)
        elements = _elements(leaf)
        if elements is None:
            unknown = True
            return leaf
        start = len(pool)
        pool.extend(elements)
        return torch.arange(start, len(pool), device="cpu").reshape(numbers(leaf.shape))

    def picked(leaf: object) -> object:
        return _known(leaf) if isinstance(leaf, Tensor) else hint_of(leaf)

    first, rest = args[:1], args[1:]
    others = picked if name in _PICKING else placed
    given = (*mapped(placed, first), *mapped(others, rest))
    words = {key: mapped(others, value) for key, value in kwargs.items() if key not in _MADE_AS}
    if unknown:
        return None
    return [[pool[i] for i in ids.reshape(-1).tolist()] for ids in tensors_in(func(*given, **words))]


_MADE_AS = ("dtype", "device", "layout", "pin_memory", "memory_format", "non_blocking")


def _reduced(name: str, args: tuple[object, ...], kwargs: Mapping[str, object]) -> list[list[Element]] | None:
    elements, tensor = _elements(args[0]), args[0]
    if elements is None or not isinstance(tensor, Tensor):
        return None
    dims = kwargs.get("dim", args[1] if len(args) > 1 else None)
    chosen = [dims] if isinstance(dims, int) else list(dims) if isinstance(dims, Sequence) else []
    chosen = [int(one) % tensor.dim() for one in chosen] or list(range(tensor.dim()))
    ids = torch.arange(len(elements), device="cpu").reshape(numbers(tensor.shape))
    kept = [one for one in range(tensor.dim()) if one not in chosen]
    rows = ids.permute(*kept, *chosen).reshape(math.prod(ids.shape[one] for one in kept), -1).tolist()
    return [[_REDUCING[name]([elements[i] for i in row]) for row in rows]]


def _summed_up(args: tuple[object, ...]) -> list[list[Element]] | None:
    """Sums of all up to each element: where pieces that lie one after the other begin."""
    elements, tensor, dim = _elements(args[0]), args[0], args[1]
    if elements is None or not isinstance(tensor, Tensor) or not isinstance(dim, int):
        return None
    ids = torch.arange(len(elements), device="cpu").reshape(numbers(tensor.shape))
    made = elements.copy()
    for row in ids.movedim(dim, -1).reshape(-1, ids.shape[dim]).tolist():
        for at, total in zip(row, itertools.accumulate(elements[i] for i in row), strict=True):
            made[at] = total
    return [made]


def _padded(args: tuple[object, ...]) -> list[list[Element]] | None:
    """With one number around the elements."""
    tensor, sides, *rest = args
    elements, (around,) = _elements(tensor), rest or (0,)
    if elements is None or not isinstance(tensor, Tensor) or not isinstance(around, Element):
        return None
    ids = torch.arange(len(elements), device="cpu").reshape(numbers(tensor.shape))
    ids = torch.constant_pad_nd(ids, hint_of(sides), len(elements))  # type: ignore[arg-type]
    pool = [*elements, around]
    return [[pool[i] for i in ids.reshape(-1).tolist()]]


def _each(
    name: str, args: tuple[object, ...], kwargs: Mapping[str, object], out: Tensor
) -> list[Element] | None:
    """An operation on each element, with those of other tensors or numbers beside it."""
    compute = _by_rounding(kwargs.get("rounding_mode")) if name == "div" else _EACH.get(name)
    if compute is None or kwargs.get("alpha", 1) != 1 or len(args) > 2:
        return None
    given: list[list[Element]] = []
    for value in args:
        elements = _elements(value)
        if elements is None:
            return None
        shape = numbers(value.shape) if isinstance(value, Tensor) else ()
        ids = torch.arange(len(elements), device="cpu").reshape(shape)
        spread = ids.broadcast_to(numbers(out.shape)).reshape(-1).tolist()
        given.append([elements[i] for i in spread])
    made = [compute(*row) for row in zip(*given, strict=True)]
    whole = not (out.is_floating_point() or out.dtype == torch.bool)
    return [_whole(one) for one in made] if whole else made


def _by_rounding(mode: object) -> Callable[..., Element] | None:
    """Division, by its `rounding_mode`; sizes are not negative, so that cutting off rounds down."""
    return operator.truediv if mode is None else operator.floordiv


def _whole(one: Element) -> Element:
    """What an integer tensor holds of it; a truth is asked for."""
    if isinstance(one, torch.SymFloat):
        whole: torch.SymInt = torch.sym_int(one)
        return whole
    return int(one) if isinstance(one, float | bool | torch.SymBool) else one


def _same(one: Element) -> Element:
    return one


_REDUCING: dict[str, Callable[[Sequence[Element]], Element]] = {
    "sum": lambda elements: functools.reduce(operator.add, elements, 0),
    "prod": lambda elements: functools.reduce(operator.mul, elements, 1),
}
_EACH: dict[str, Callable[..., Element]] = {
    "_to_copy": _same,
    "add": operator.add,
    "sub": operator.sub,
    "rsub": lambda one, other: other - one,
    "mul": operator.mul,
    "floor_divide": operator.floordiv,
    "remainder": operator.mod,
    "neg": operator.neg,
    "ceil": math.ceil,
    "floor": math.floor,
    "maximum": torch.sym_max,
    "minimum": torch.sym_min,
    "clamp_min": torch.sym_max,
    "clamp_max": torch.sym_min,
    "clamp": torch.sym_max,
    **{name: getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")},
}

"""Arguments and results of a call in; out the tensors of its state: what a next call is handed again.

A state is what an object among the arguments holds (a cache of keys and values, of convolutions, of a
recurrence), and the tensors of a parameter whose name says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import torch
from torch import Tensor

from forwardbook.analyzers.ops import Operand, Operation, Size
from forwardbook.analyzers.ops.operation import product
from forwardbook.analyzers.symbolic.given import named
from forwardbook.analyzers.symbolic.shadows import leaves_in, tensors_in

_NAMED: Final = re.compile(r"(^|_)(past|cache)(_|s?$)|^(states?|mems?)$")
_COPYING: Final = frozenset(("aten.cat", "aten.concat", "aten.clone", "aten.contiguous"))
DEPTH: Final = 5  # object, part of it, list of layers, layer, tensor


def reachable(tree: object) -> tuple[list[Tensor], list[Tensor]]:
    """Tensors among arguments or results, and those held by stateful objects among them (a cache)."""
    plain: list[Tensor] = []
    held: list[Tensor] = []
    for leaf in leaves_in(tree):
        if isinstance(leaf, Tensor):
            plain.append(leaf)
        elif hasattr(leaf, "__dict__") and not isinstance(leaf, torch.nn.Module | type | torch.dtype):
            held += _held(leaf, DEPTH)
    return plain, held


def _held(value: object, depth: int) -> list[Tensor]:
    if isinstance(value, Tensor):
        return [value]
    if depth == 0 or isinstance(value, torch.nn.Module | torch.SymInt | torch.SymFloat | torch.SymBool):
        return []  # behind a symbolic number is all that a run has asked so far
    if isinstance(value, dict):
        inner: list[object] = list(value.values())
    elif isinstance(value, list | tuple):
        inner = list(value)
    elif hasattr(value, "__dict__") and not isinstance(value, type) and not callable(value):
        inner = list(vars(value).values())
    else:
        return []
    return [t for item in inner for t in _held(item, depth - 1)]


def named_states(
    forward: Callable[..., object], args: Sequence[object], kwargs: Mapping[str, object]
) -> list[Tensor]:
    """Tensors handed over under a name such as `past_key_values`, `layer_past`, `k_cache`."""
    given = dict(named(forward, args)) | dict(kwargs)
    return [t for name, value in given.items() if _NAMED.search(name) for t in tensors_in(value)]


def copies(operation: Operation) -> Iterator[tuple[Operand, Size]]:
    """The inputs that an operation copies unchanged into what it makes, and their bytes there.

    What has another width there is another value.
    """
    if operation.name in _COPYING and len(operation.outputs) == 1 and operation.output.fresh:
        out = operation.output
        for one in operation.inputs:
            if one.width == out.width:
                yield one, product(*one.shape) * out.width


def rewritten(operation: Operation, writes: Size) -> Iterator[tuple[Operand, Size]]:
    """The inputs that an operation writes into, and how many bytes of each."""
    written = [one for one in operation.inputs if one.mutated]
    alone = len(written) == 1 and not any(one.fresh for one in operation.outputs)
    for one in written:
        yield one, writes if alone else one.bytes

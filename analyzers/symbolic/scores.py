"""Follows products through masks and a softmax into a second product: attention that is no one operation.

Scores may be scaled, capped, shifted, cast, joined with sinks and cut again on the way. A mask is what is
added to them and reaches far below zero, or what fills them so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import torch
from torch import Tensor

from forwardbook.analyzers.ops import Operand, Operation, Size
from forwardbook.analyzers.symbolic.attention import MASKED, NAME, Attention, kept, open_in
from forwardbook.analyzers.symbolic.ledger import number_of
from forwardbook.analyzers.symbolic.of_weights import choices_of
from forwardbook.analyzers.symbolic.shadows import LIMIT, elements, shadow
from forwardbook.analyzers.symbolic.trace import Trace

_PRODUCTS: Final = frozenset(("aten.bmm", "aten.mm", "aten.baddbmm"))
_SOFTMAX: Final = frozenset(("aten._softmax", "aten.softmax", "aten._safe_softmax"))
_PASSING: Final = frozenset(
    (
        *("aten.mul", "aten.mul_", "aten.div", "aten.div_", "aten.add", "aten.add_", "aten.sub", "aten.sub_"),
        *("aten.rsub", "aten.neg", "aten.tanh", "aten.tanh_", "aten.maximum", "aten.clamp", "aten.clamp_min"),
        *("aten.clamp_max", "aten.nan_to_num", "aten.native_dropout", "aten.dropout", "aten._to_copy"),
        *("aten.clone", "aten.copy_", "aten.cat", "aten.where", "aten.masked_fill", "aten.masked_fill_"),
        *("aten.index_put", "aten.index_put_"),
    )
)
_ADDING: Final = frozenset(("aten.add", "aten.add_", "aten.baddbmm"))
_FULL: Final = frozenset(("aten.full", "aten.full_like", "aten.new_full", "aten.fill_"))
_MAKING: Final = (
    _ADDING
    | _FULL
    | {"aten.where", "aten.masked_fill", "aten.masked_fill_", "aten.index_put", "aten.index_put_"}
    | {"aten.scatter", "aten.scatter_", "aten.clone", "aten._to_copy"}
)
"""What makes masks of masks, or of numbers far below zero."""
_FILLING: Final = frozenset(("aten.masked_fill", "aten.masked_fill_", "aten.index_put", "aten.index_put_"))


DOUBTFUL: Final = -100
"""What fills a mask and is this or less may forbid a pair: Swin's masks do."""


@dataclass(frozen=True)
class _Masks:
    """Masks that were put on scores, or on what will be added to some; `unknown` where one has no values."""

    left: tuple[Tensor, ...] = ()
    unknown: bool = False

    def __add__(self, other: _Masks) -> _Masks:
        return _Masks(self.left + other.left, self.unknown or other.unknown)


@dataclass(frozen=True)
class _Scores:
    """A product that may be of queries with keys: which operation, its last two sides, what masks leave."""

    product: int
    rows: int
    columns: int
    sides: tuple[Size, Size]
    masks: _Masks = _Masks()
    weighed: bool = False


class Scores:
    """What is known of scores by the storage that holds them, in one run on meta."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._scores: dict[int, _Scores] = {}
        self._masks: dict[int, _Masks] = {}
        self._filled: dict[int, bool] = {}
        """What was filled with numbers below zero, and whether these are far below."""

    def follow(self, operation: Operation, given: Mapping[str, object], outputs: list[Tensor]) -> None:
        """Looks at the operation that was recorded last; `given` has its arguments by name."""
        found = [self._scores[x.storage] for x in operation.inputs if x.storage in self._scores]
        held = next((one for one in found if one.weighed), found[0] if found else None)
        if operation.name in _PRODUCTS:
            if held is not None and held.weighed:
                self._found(held)
            elif len(outputs) == 1 and outputs[0].dim() > 1:
                self._start(operation, given, outputs[0])
        elif operation.name == NAME:
            self._see(operation, given)
        elif held is not None and operation.name in _SOFTMAX:
            self._put(operation, replace(held, weighed=True))
        elif held is None or operation.name not in _PASSING:
            self._follow_masks(operation, given, outputs)
        else:
            masks = self._put_on(operation, given) if not held.weighed else _Masks()
            self._put(operation, replace(held, masks=held.masks + masks))

    def _put(self, operation: Operation, scores: _Scores) -> None:
        for out in operation.outputs[:1]:
            self._scores[out.storage] = scores

    def _start(self, operation: Operation, given: Mapping[str, object], out: Tensor) -> None:
        rows, columns = map(number_of, out.shape[-2:])
        sides = operation.output.shape[-2], operation.output.shape[-1]
        bias = self._mask_in(operation, given, "self") if operation.name in _ADDING else _Masks()
        product = len(self._trace.operations) - 1
        self._scores[operation.output.storage] = _Scores(product, rows, columns, sides, bias)

    def _found(self, held: _Scores) -> None:
        """Both products around the softmax multiply as many pairs."""
        pairs = None if held.masks.unknown else kept(held.masks.left, held.rows, held.columns)
        attention = Attention(*held.sides, pairs, fused=False)
        operations = self._trace.operations
        for index in (held.product, len(operations) - 1):
            operations[index] = replace(operations[index], attention=attention)

    def _see(self, operation: Operation, given: Mapping[str, object]) -> None:
        """A mask that was added to a bias of weights has the places of the mask."""
        record = self._trace.operations[-1]
        masks = self._mask_in(operation, given, "attn_mask")
        if record.attention is not None and record.attention.pairs is None and not masks.unknown:
            rows, columns = (number_of(given[name].shape[-2]) for name in ("query", "key"))  # type: ignore[attr-defined]
            known = replace(record.attention, pairs=kept(masks.left, rows, columns))
            self._trace.operations[-1] = replace(record, attention=known)

    def _follow_masks(self, operation: Operation, given: Mapping[str, object], outputs: list[Tensor]) -> None:
        """A mask that is added to a bias is put on scores with it; one at places of weights is unknown."""
        if operation.name not in _MAKING or not outputs or not outputs[0].is_floating_point():
            return
        fills = [given.get(name) for name in ("value", "values", "fill_value", "self", "other")]
        sure, low = (any(_is_low(one, least) for one in fills) for least in (MASKED, DOUBTFUL))
        if operation.name in _FULL:
            if low:
                self._filled[operation.output.storage] = sure
            return
        masks = _Masks()
        if operation.name in _ADDING:
            masks = self._mask_in(operation, given, "self") + self._mask_in(operation, given, "other")
        else:
            masks = sum((self._masks.get(x.storage, masks) for x in operation.inputs), masks)
            filled = [self._filled[x.storage] for x in operation.inputs if x.storage in self._filled]
            chosen = any(choices_of(one) is not None for one in given.values() if isinstance(one, Tensor))
            doubtful = chosen or shadow(outputs[0]) is None or not (sure or any(filled))
            masks = masks + _Masks(unknown=(low or bool(filled)) and doubtful)
        if masks.left or masks.unknown:
            self._masks[operation.output.storage] = masks

    def _put_on(self, operation: Operation, given: Mapping[str, object]) -> _Masks:
        """What an operation on scores leaves of them."""
        if operation.name in _ADDING:
            names = [n for n in ("self", "other") if not self._is_scores(operation, n)]
            found = _Masks()
            for name in names:
                found = found + self._mask_in(operation, given, name)
            return found
        if operation.name in _FILLING:
            if not _is_low(given.get("value", given.get("values"))):
                return _Masks()
            mask = given.get("mask")
            value = shadow(mask) if isinstance(mask, Tensor) else None
            return _Masks(unknown=True) if value is None else _Masks((~value.bool(),))
        if operation.name == "aten.where":
            condition = given.get("condition")
            other = "other" if self._is_scores(operation, "self") else "self"
            if not _is_low(given.get(other)):
                return _Masks()
            value = shadow(condition) if isinstance(condition, Tensor) else None
            if value is None:
                return _Masks(unknown=True)
            return _Masks((value.bool() if other == "other" else ~value.bool(),))
        return _Masks()

    def _is_scores(self, operation: Operation, name: str) -> bool:
        operand = operation.arguments.get(name)
        return isinstance(operand, Operand) and operand.storage in self._scores

    def _mask_in(self, operation: Operation, given: Mapping[str, object], name: str) -> _Masks:
        """The mask that an argument is, if it is one: a bias of weights is none, whatever its values."""
        tensor, operand = given.get(name), operation.arguments.get(name)
        if not isinstance(tensor, Tensor) or not isinstance(operand, Operand):
            return _Masks()
        value, known = shadow(tensor), self._masks.get(operand.storage, _Masks())
        if known.unknown or (value is None and known.left):
            return known
        if value is None:  # what has few elements and no values is computed of weights
            return _Masks(unknown=not tensor.is_floating_point() or elements(tensor) > LIMIT)
        if tensor.dim() < 2:
            return _Masks()
        left = open_in(value)
        return _Masks() if bool(left.all()) else _Masks((left,))


def _is_low(value: object, least: float = MASKED) -> bool:
    """Whether a number, or the one that a tensor holds, makes a score count nothing."""
    if isinstance(value, Tensor):
        value = shadow(value)
        return value is not None and bool(torch.all(value <= least))
    return isinstance(value, int | float) and value <= least

"""Remembers how results of operations are laid out: the next of equal operations need not work it out again.

Within a run an operation on tensors of the same sizes and strides (the same nodes, `node`) gives tensors
of the same; what it compared the first time is written down again for the call that it is in. In another run
of the process it does where all that its shape function asked (`questions`) has the same answers.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor
from torch.nn.parameter import is_lazy

from forwardbook.analyzers.symbolic.forms import FORMS
from forwardbook.analyzers.symbolic.ledger import Consumption, Guard, Ledger
from forwardbook.analyzers.symbolic.node import Node
from forwardbook.analyzers.symbolic.questions import Questions
from forwardbook.analyzers.symbolic.schemas import schema_of
from forwardbook.analyzers.symbolic.shadows import tensors_in

_PLAIN = (bool, int, float, str, type(None), torch.dtype, torch.device, torch.layout, torch.memory_format)
Run = Callable[[torch._ops.OpOverload, tuple[object, ...], dict[str, object]], object]
Size = int | tuple[int]
"""A number, or the form of a size."""

FORMS_KEPT = 1_000_000  # about 300 bytes each; a run of a large model has thousands
VARIANTS = 8  # outcomes kept of one operation, whose comparisons come out differently at other hints


class _Unlike(Exception):
    """An argument or a result that is not compared, and so not remembered."""


@dataclass(frozen=True, slots=True)
class _Laid:
    """A result: fresh, or a view of the argument `of`; its sizes, strides and offset as torch gave them."""

    of: int
    sizes: tuple[Size, ...]
    strides: tuple[Size, ...]
    offset: Size
    dtype: torch.dtype
    whole: bool = False
    """Whether it came with the knowledge that it is contiguous, which nobody had to ask."""

    def born(self, inputs: list[Tensor], ledger: Ledger) -> Tensor:
        """Another tensor laid out so, which knows as much of itself as one that a shape function made."""
        if not self.whole:
            return self.made(inputs, ledger)
        sizes = [_sized(size, ledger) for size in self.sizes]
        return torch.ops.aten.empty.memory_format(sizes, dtype=self.dtype, device=torch.device("meta"))  # type: ignore[no-any-return]

    def made(self, inputs: list[Tensor], ledger: Ledger) -> Tensor:
        """Another tensor laid out so."""
        sizes = [_sized(size, ledger) for size in self.sizes]
        strides = [_sized(stride, ledger) for stride in self.strides]
        if self.of < 0:
            out = torch.ops.aten.empty_strided.default(
                sizes, strides, dtype=self.dtype, device=torch.device("meta")
            )
        else:
            offset = _sized(self.offset, ledger)
            out = torch.ops.aten.as_strided.default(inputs[self.of], sizes, strides, offset)
        assert isinstance(out, Tensor)
        return out


@dataclass(frozen=True, slots=True)
class _Outcome:
    """The results of an operation, one or a sequence, and what its shape function asked for them."""

    kind: type | None
    laid: tuple[_Laid, ...]
    asked: Questions | None
    noted: tuple[Guard | Consumption, ...] = ()
    """What was needed of it in this run, where nobody listened: not kept beyond."""

    def repeat(self, ledger: Ledger) -> None:
        """Writes down what the operation needs, for the call that it is in now."""
        if self.asked is not None:
            ledger.answer(self.asked)
        ledger.repeat(self.noted)

    def made(self, inputs: list[Tensor], ledger: Ledger) -> object:
        """The results made anew of other inputs."""
        made = [one.made(inputs, ledger) for one in self.laid]
        return made[0] if self.kind is None else self.kind(made)

    def born(self, inputs: list[Tensor], ledger: Ledger) -> object:
        """The same where no equal operation ran in this run: nothing is written of what making them asks."""
        assert self.asked is not None
        ledger.answer(self.asked)
        with ledger.listening():
            made = [one.born(inputs, ledger) for one in self.laid]
        return made[0] if self.kind is None else self.kind(made)


_EVERYWHERE: dict[object, list[_Outcome]] = {}
_UNHEARD: set[object] = set()  # operations that are run each time: listening to them gave no outcome


def forget() -> None:
    """Drops what runs of the process have learnt."""
    _EVERYWHERE.clear()
    _UNHEARD.clear()
    FORMS.forget()


class Memory:
    """Layouts of results by operation and arguments, for one symbolic run; it learns from those before it."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._known: dict[object, _Outcome] = {}
        if len(FORMS) > FORMS_KEPT:
            forget()

    def run(
        self,
        run: Run,
        func: torch._ops.OpOverload,
        args: tuple[object, ...],
        kwargs: dict[str, object],
    ) -> object:
        """What `run` gives of an operation, made anew where an equal one ran before."""
        if schema_of(func).mutable:
            return run(func, args, kwargs)
        try:
            key = (func, _key(args), _key(tuple(kwargs.items())) if kwargs else ())
        except _Unlike:
            return run(func, args, kwargs)
        inputs = tensors_in((args, kwargs))
        known = self._known.get(key)
        if known is not None:
            known.repeat(self._ledger)
            return known.made(inputs, self._ledger)
        everywhere = (key, torch.get_default_dtype())
        if everywhere not in _UNHEARD:
            outcome = _heard_before(everywhere, self._ledger)
            if outcome is not None:
                self._known[key] = outcome
                return outcome.born(inputs, self._ledger)
            found = self._listened(run, func, args, kwargs, inputs)
            if found is not None:
                out, outcome = found
                _EVERYWHERE[everywhere] = [*_EVERYWHERE.get(everywhere, ()), outcome][-VARIANTS:]
                self._known[key] = outcome
                return out
            _UNHEARD.add(everywhere)
        with self._ledger.noting() as noted:
            out = run(func, args, kwargs)
        with contextlib.suppress(_Unlike):
            self._known[key] = replace(_outcome(out, inputs, None), noted=tuple(noted))
        return out

    def _listened(
        self,
        run: Run,
        func: torch._ops.OpOverload,
        args: tuple[object, ...],
        kwargs: dict[str, object],
        inputs: list[Tensor],
    ) -> tuple[object, _Outcome] | None:
        """What `run` gives, and its outcome for other runs; None, and nothing written, if there is none.

        Torch asks a tensor once whether it is contiguous and the like. What an operation asks must not hang
        on what its arguments were asked before: it is run with such as know nothing, and such as know all.
        """
        ledger = self._ledger

        def heard(known: bool) -> tuple[object, list[Tensor], Questions]:
            copies = {id(one): _twin(one, ledger, known) for one in inputs}
            with ledger.listening() as asked:
                out = run(func, _with(args, copies), _with(kwargs, copies))  # type: ignore[arg-type]
            return out, [copies[id(one)] for one in inputs], asked

        try:
            out, twins, asked = heard(known=False)
            outcome = _outcome(out, twins, asked)
            if asked.consumes or any(_same(one, inputs) for one in outcome.laid):
                return None
            if heard(known=True)[2].truths() != asked.truths():
                return None
            outputs = [out] if isinstance(out, Tensor) else list(out)  # type: ignore[call-overload]
            laid = [_born(one, out, twins, ledger) for one, out in zip(outcome.laid, outputs, strict=True)]
        except (_Unlike, RuntimeError, TypeError, ValueError, LookupError, ArithmeticError, AssertionError):
            return None
        ledger.answer(asked)
        return out, _Outcome(outcome.kind, tuple(laid), asked)


def _twin(tensor: Tensor, ledger: Ledger, known: bool) -> Tensor:
    """Another tensor of the same place, which knows nothing of how it lies, or all."""
    with ledger.listening():
        twin = torch.ops.aten.as_strided.default(
            tensor, tensor.shape, tensor.stride(), tensor.storage_offset()
        )
        for ask in _asks(twin) if known else ():
            ask(twin)
    assert isinstance(twin, Tensor)
    return twin


_SAID_OF: dict[int, tuple[torch.memory_format, ...]] = {
    4: (torch.contiguous_format, torch.channels_last),
    5: (torch.contiguous_format, torch.channels_last_3d),
}


def _asks(tensor: Tensor) -> Iterator[Callable[[Tensor], object]]:
    """All that torch remembers of how a tensor lies."""
    yield torch.ops.aten.is_non_overlapping_and_dense.default
    for order in _SAID_OF.get(tensor.dim(), (torch.contiguous_format,)):
        yield partial(Tensor.is_contiguous, memory_format=order)
        if order != torch.contiguous_format:
            yield partial(torch.ops.aten.is_strides_like_format.default, memory_format=order)


def _open(tensor: Tensor, ledger: Ledger) -> list[list[tuple[str, tuple[int, ...]]]]:
    """What torch would still ask of how a tensor lies."""
    found = []
    for ask in _asks(tensor):
        with ledger.listening() as asked:
            ask(tensor.detach())  # knows what the other does, and tells it nothing
        found.append(asked.truths())
    return found


def _born(laid: _Laid, out: Tensor, inputs: list[Tensor], ledger: Ledger) -> _Laid:
    """How to make a tensor that knows of itself what the result `out` does."""
    wanted = _open(out, ledger)
    for one in (laid, replace(laid, whole=True)) if laid.of < 0 else (laid,):
        with ledger.listening():
            made = one.born(inputs, ledger)
        strides = tuple(map(_number, made.stride()))
        if strides == laid.strides and _open(made, ledger) == wanted:
            return one
    raise _Unlike


def _heard_before(key: object, ledger: Ledger) -> _Outcome | None:
    """The outcome of an equal operation in a run where all that was asked had the same answers."""
    for outcome in _EVERYWHERE.get(key, ()):
        if outcome.asked is not None and outcome.asked.answered_alike(ledger):
            return outcome
    return None


def _with(value: object, copies: dict[int, Tensor]) -> object:
    """The arguments with copies for tensors."""
    if isinstance(value, Tensor):
        return copies[id(value)]
    if isinstance(value, dict):
        return {name: _with(one, copies) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return type(value)([_with(one, copies) for one in value])
    return value


def _same(one: _Laid, inputs: list[Tensor]) -> bool:
    """Whether a result is all of an argument: torch may hand on to it what that one knows of itself."""
    if one.of < 0:
        return False
    given = inputs[one.of]
    return (*one.sizes, None, *one.strides) == _key(given)[: 2 * len(one.sizes) + 1]  # type: ignore[index,no-any-return]


def _key(value: object) -> object:
    if isinstance(value, Tensor):
        if (
            is_lazy(value)
            or value.device.type != "meta"
            or value.layout != torch.strided
            or value.is_complex()
        ):
            raise _Unlike
        sizes, strides = map(_number, value.shape), map(_number, value.stride())
        return (*sizes, None, *strides, _number(value.storage_offset()), value.dtype)
    if isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool):
        return _number(value)
    if isinstance(value, list | tuple):
        return tuple(map(_key, value))
    if not isinstance(value, _PLAIN):
        raise _Unlike
    return type(value), value


def _number(value: object) -> Size:
    """What tells a size from others: the number, or the form."""
    if isinstance(value, int):
        return value
    node = getattr(value, "node", None)
    if not isinstance(node, Node):
        raise _Unlike
    return (node.form,)


def _sized(size: Size, ledger: Ledger) -> int | torch.SymInt:
    if isinstance(size, int):
        return size
    node = ledger.of_form(size[0])
    assert node is not None
    return torch.SymInt(node)


def _outcome(out: object, inputs: list[Tensor], asked: Questions | None) -> _Outcome:
    if not isinstance(out, Tensor) and type(out) not in (list, tuple):
        raise _Unlike
    outputs = [out] if isinstance(out, Tensor) else list(out)  # type: ignore[call-overload]
    places = {one.untyped_storage()._cdata: i for i, one in reversed(list(enumerate(inputs)))}
    found: list[_Laid] = []
    fresh: set[int] = set()
    for one in outputs:
        if not isinstance(one, Tensor) or any(one is given for given in inputs) or is_lazy(one):
            raise _Unlike
        if one.device.type != "meta" or one.layout != torch.strided or one.is_complex():
            raise _Unlike
        place = one.untyped_storage()._cdata
        of = places.get(place, -1)
        if of >= 0 and one.dtype != inputs[of].dtype:
            raise _Unlike
        if of < 0 and (place in fresh or type(one.storage_offset()) is not int or one.storage_offset() != 0):
            raise _Unlike
        fresh.add(place)
        sizes, strides = tuple(map(_number, one.shape)), tuple(map(_number, one.stride()))
        found.append(_Laid(of, sizes, strides, _number(one.storage_offset()), one.dtype))
    return _Outcome(None if isinstance(out, Tensor) else type(out), tuple(found), asked)

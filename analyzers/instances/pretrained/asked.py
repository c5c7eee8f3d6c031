"""A model and inputs that it refuses in; out inputs with what its errors ask for, parameter by parameter.

Many a forward() gives a parameter the default None and fails on it: the line that raised, or the message,
names it.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from forwardbook.analyzers.instances.pretrained.inputs import Plan, expressions, make_inputs
from forwardbook.analyzers.instances.pretrained.raised import expressions_of
from forwardbook.analyzers.instances.pretrained.submodules import theirs, wants_values
from forwardbook.analyzers.instances.recipe import hinted

if TYPE_CHECKING:
    from transformers import PreTrainedModel

MOST = 60
"""Calls of one model that are tried."""
STARTS = 2
"""Plans that are gone on from: those that come furthest."""
_WORD = re.compile(r"\w+")


def asked(model: PreTrainedModel, plans: list[Plan]) -> list[Plan]:
    """Plans that run on meta as far as shapes go, made from those that do not; none where nothing helps."""
    tries = _Tries(model)
    furthest = sorted(plans, key=lambda plan: -tries.of(plan)[0])
    found = (_completed(tries, plan) for plan in furthest[:STARTS])
    return [plan for plan in found if plan is not None]


def errors_of(model: PreTrainedModel, plans: list[Plan]) -> Iterator[BaseException]:
    """What a call on meta raises with the likeliest plan, then with the one that comes furthest."""
    runs = (_run(model, plan, model) for plan in plans)
    steps, first = next(runs)
    if first is not None:
        yield first
    furthest = max(runs, key=lambda run: run[0], default=(0, None))
    if furthest[0] > steps and furthest[1] is not None:
        yield furthest[1]


class _Tries:
    """Calls of one model on meta: how far each came, in operations, and the error that ended it."""

    def __init__(self, model: PreTrainedModel) -> None:
        self.model = model
        self._known: dict[tuple[tuple[str, str], ...], tuple[int, BaseException | None]] = {}

    @property
    def spent(self) -> bool:
        """Whether no more are tried."""
        return len(self._known) >= MOST

    def of(self, plan: Plan) -> tuple[int, BaseException | None]:
        """Steps, and the error; None where all shapes fit."""
        key = tuple(sorted(plan.items()))
        if key not in self._known:
            steps, error = _run(self.model, plan, self.model)
            self._known[key] = (steps, None if error is None or wants_values(error) else error)
        return self._known[key]


def _completed(tries: _Tries, plan: Plan) -> Plan | None:
    """From a plan to one that comes further, until all shapes fit."""
    start = plan
    while not tries.spent:
        steps, error = tries.of(plan)
        if error is None:
            return plan if plan != start else None
        best, furthest = None, steps
        for other in _changed(tries.model, plan, error):
            if tries.spent:
                break
            reached, raised = tries.of(other)
            if raised is None:
                return other
            adds = len(other) > len(plan) and str(raised) != str(error)
            if reached > furthest or (best is None and adds and reached == steps):
                best, furthest = other, reached
        if best is None:
            return None
        plan = best
    return None


def _changed(model: PreTrainedModel, plan: Plan, error: BaseException) -> Iterator[Plan]:
    """Plans with what the error asks for, then with another choice for one of the parameters."""
    for name in dict.fromkeys(_wanted(model, plan, error)):
        yield from ({**plan, name: option} for option in expressions(name))
    for name, chosen in plan.items():
        if chosen in expressions(name):
            yield from ({**plan, name: option} for option in expressions(name) if option != chosen)


def _wanted(model: PreTrainedModel, plan: Plan, error: BaseException) -> Iterator[str]:
    """Parameters of forward() that the message or the lines that raised name, and that were not given."""
    names = inspect.signature(type(model).forward).parameters
    said = _WORD.findall(str(error))
    yield from (name for name in names if name in said and name not in plan and "_" in name)
    for frame, text in expressions_of(error):
        for name in _WORD.findall(text):
            missing = frame.f_locals.get(name, False) is None
            if name in names and name not in plan and missing:
                yield name


def fits(call: Callable[..., object], plan: Plan, model: PreTrainedModel) -> bool:
    """Whether a method of a model takes these inputs on meta, as far as shapes go."""
    error = error_of(call, plan, model)
    return error is None or wants_values(error)


def error_of(call: Callable[..., object], plan: Plan, model: PreTrainedModel) -> BaseException | None:
    """What a call on meta raises."""
    return _run(call, plan, model)[1]


def _run(
    call: Callable[..., object], plan: Plan, model: PreTrainedModel
) -> tuple[int, BaseException | None]:
    """How many operations a call on meta runs, and what it raises."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    from forwardbook.analyzers.instances.tensors import PlainMaker

    steps = 0

    class Ones(TorchDispatchMode):
        """Values that forward() reads of meta tensors are ones: this call is about shapes."""

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
            nonlocal steps
            steps += 1
            if func is torch.ops.aten._local_scalar_dense.default:
                return args[0].dtype is torch.bool or 1
            return func(*args, **(kwargs or {}))

    try:
        with torch.device("meta"), torch.no_grad(), Ones():  # type: ignore[no-untyped-call]
            call(**make_inputs(plan, hinted, model.config, PlainMaker("meta")))
    except BaseException as error:  # somebody else's forward() raises anything
        if not theirs(error):
            raise
        return steps, error
    return steps, None

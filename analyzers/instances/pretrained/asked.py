"""A model and inputs that it refuses in; out inputs with what its errors ask for, parameter by parameter.

Many a forward() gives a parameter the default None and fails on it: the line that raised, or the message,
names it.
"""

from __future__ import annotations

import inspect
import re
import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from forwardbook.analyzers.instances.pretrained.inputs import Plan, expressions, make_inputs
from forwardbook.analyzers.instances.pretrained.submodules import theirs, wants_values
from forwardbook.analyzers.instances.recipe import hinted

if TYPE_CHECKING:
    from transformers import PreTrainedModel

MOST = 10
"""Calls of one model that are tried."""
_WORD = re.compile(r"\w+")


def asked(model: PreTrainedModel, plans: list[Plan]) -> list[Plan]:
    """Plans that run on meta as far as shapes go, made from those that do not; none where nothing helps."""
    found = (_completed(model, plan) for plan in plans[:2])
    return [plan for plan in found if plan is not None]


def _completed(model: PreTrainedModel, plan: Plan) -> Plan | None:
    tried: dict[str, int] = {}
    for _ in range(MOST):
        error = error_of(model, plan, model)
        if error is None or wants_values(error):
            return plan if tried else None
        name = next(iter(_wanted(model, plan, error)), None) or next(reversed(tried), None)
        if name is None:
            return None
        rank = tried.get(name, -1) + 1
        options = expressions(name)
        if rank >= len(options):
            return None
        tried[name] = rank
        plan = {**plan, name: options[rank]}
    return None


def _wanted(model: PreTrainedModel, plan: Plan, error: BaseException) -> Iterator[str]:
    """Parameters of forward() that the message or the lines that raised name, and that were not given."""
    names = inspect.signature(type(model).forward).parameters
    said = _WORD.findall(str(error))
    yield from (name for name in names if name in said and name not in plan and "_" in name)
    for frame, number in list(traceback.walk_tb(error.__traceback__))[::-1]:
        read = _WORD.findall(_line(frame.f_code.co_filename, number))
        for name in read:
            missing = frame.f_locals.get(name, False) is None
            if name in names and name not in plan and missing:
                yield name


def _line(file: str, number: int) -> str:
    import linecache

    return linecache.getline(file, number)


def fits(call: Callable[..., object], plan: Plan, model: PreTrainedModel) -> bool:
    """Whether a method of a model takes these inputs on meta, as far as shapes go."""
    error = error_of(call, plan, model)
    return error is None or wants_values(error)


def error_of(call: Callable[..., object], plan: Plan, model: PreTrainedModel) -> BaseException | None:
    """What a call on meta raises."""
    import torch

    from forwardbook.analyzers.instances.tensors import PlainMaker

    try:
        with torch.device("meta"), torch.no_grad(), _answering():
            call(**make_inputs(plan, hinted, model.config, PlainMaker("meta")))
    except BaseException as error:  # somebody else's forward() raises anything
        if not theirs(error):
            raise
        return error
    return None


def _answering() -> AbstractContextManager[object]:
    """Values that forward() reads of meta tensors are ones: this call is about shapes."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    class Ones(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
            if func is torch.ops.aten._local_scalar_dense.default:
                return args[0].dtype is torch.bool or 1
            return func(*args, **(kwargs or {}))

    return Ones()  # type: ignore[no-untyped-call]

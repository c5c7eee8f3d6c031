"""A model and inputs that it refuses in; out inputs with what its errors ask for, parameter by parameter.

Many a forward() gives a parameter the default None and fails on it: the line that raised, or the message,
names it.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING

from forwardbook.analyzers.instances.pretrained.inputs import Plan, make_inputs, options_beside
from forwardbook.analyzers.instances.pretrained.lengths import with_told_lengths
from forwardbook.analyzers.instances.pretrained.raised import expressions_of
from forwardbook.analyzers.instances.pretrained.submodules import theirs, wants_values
from forwardbook.analyzers.instances.recipe import InputMaker, hinted

if TYPE_CHECKING:
    from transformers import PreTrainedModel

MOST = 90
"""Calls of one model that are tried."""
STARTS = 4
"""Plans that are gone on from: those that come furthest."""
_WORD = re.compile(r"\w+")
_REFUSED = re.compile(r"\b(cannot|can't|can not)\b")
_SIDES = (
    ("seq_len, hidden_size", "grid_height, grid_width"),
    ("hidden_size, seq_len", "grid_height, grid_width"),
    ("hidden_size", "seq_len"),
)


def asked(model: PreTrainedModel, plans: list[Plan]) -> list[Plan]:
    """Plans that run on meta as far as shapes go, made from those that do not; none where nothing helps."""
    return asking(model, plans).found


@dataclass(frozen=True)
class Asking:
    """The plans found, and where nothing more helped: how many operations those ran, and what they raised."""

    found: list[Plan]
    ends: list[tuple[int, BaseException]]


def asking(model: PreTrainedModel, plans: list[Plan]) -> Asking:
    """As `asked`, with the errors that are left where it finds nothing."""
    tries = _Tries(model)
    furthest = sorted(plans, key=lambda plan: -tries.of(plan)[0])
    found: list[Plan] = []
    ends: list[tuple[int, BaseException]] = []
    for start in furthest[:STARTS]:
        plan = _completed(tries, start)
        steps, error = tries.of(plan)
        if error is not None:
            ends.append((steps, error))
        elif plan != start:
            found.append(plan)
    return Asking(found, ends)


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


def _completed(tries: _Tries, plan: Plan) -> Plan:
    """From a plan to one that comes further, until all shapes fit or none does."""
    while not tries.spent:
        steps, error = tries.of(plan)
        if error is None:
            return plan
        best, furthest = None, steps
        for others in (_told, _chosen):  # what the error tells goes first, and alone where it helps
            for other in others(tries.model, plan, error):
                if tries.spent:
                    break
                reached, raised = tries.of(other)
                if raised is None:
                    return other
                adds = len(other) > len(plan) and str(raised) != str(error)
                if reached > furthest or (best is None and adds and reached == steps):
                    best, furthest = other, reached
            if furthest > steps:
                break
        if best is None:
            return plan
        plan = best
    return plan


def _told(model: PreTrainedModel, plan: Plan, error: BaseException) -> Iterator[Plan]:
    """Plans with the parameters that the error names, and with the lengths that it tells."""
    wanted = list(dict.fromkeys(_wanted(model, plan, error)))
    yield from _without_refused(plan, wanted, str(error))
    for name in wanted:
        with_it = {**plan, name: options_beside(name, plan)[0]}
        first = {one: options_beside(one, with_it)[0] for one in plan}
        changed = {one: text for one, text in first.items() if text != options_beside(one, plan)[0]}
        if changed:  # images lie otherwise beside their sizes
            yield {**with_it, **changed}
        yield from ({**plan, name: option} for option in options_beside(name, plan))
    if "to be bool" in str(error):
        flags = {name: text.replace("full(1, ", "mask(") for name, text in plan.items()}
        yield {**plan, **flags}
    if "scalar types: Long" in str(error):  # rows of a table are looked up
        drawn = {name: _numbered(text) for name, text in plan.items()}
        yield from ({**plan, name: text} for name, text in drawn.items() if text != plan[name])
    yield from with_told_lengths(model, plan, error)


def _without_refused(plan: Plan, wanted: Sequence[str], said: str) -> Iterator[Plan]:
    """Plans without a parameter that the message says cannot be given, and with another for it."""
    if not _REFUSED.search(said):
        return
    words = _WORD.findall(said)
    for name in (one for one in plan if one in words):
        rest = {one: text for one, text in plan.items() if one != name}
        yield from ({**rest, other: options_beside(other, rest)[0]} for other in wanted)
        yield rest


def _numbered(text: str) -> str:
    """Whole numbers in place of floats: no side of them is a width, and two lie as patches of an image."""
    if not text.startswith("floats("):
        return text
    for sides, free in _SIDES:
        text = text.replace(sides, free)
    return text.replace("floats(", "integers(2, ")


def _chosen(model: PreTrainedModel, plan: Plan, error: BaseException) -> Iterator[Plan]:
    """Plans with another choice for one of the parameters."""
    for name, chosen in plan.items():
        options = options_beside(name, plan)
        if chosen in options:
            yield from ({**plan, name: option} for option in options if option != chosen)


def _wanted(model: PreTrainedModel, plan: Plan, error: BaseException) -> Iterator[str]:
    """Parameters of forward() that the message or the lines that raised name, and that were not given."""
    names = inspect.signature(type(model).forward).parameters
    hands_on = any(one.kind is one.VAR_KEYWORD for one in names.values())
    said = _WORD.findall(str(error))
    yield from (name for name in names if name in said and name not in plan and "_" in name)
    for frame, text in expressions_of(error):
        for name in _WORD.findall(text):
            missing = frame.f_locals.get(name, False) is None
            known = name in names or (hands_on and _may_be_none(frame, name))
            if known and name not in plan and missing:
                yield name


def _may_be_none(frame: FrameType, name: str) -> bool:
    """Whether a module runs in the frame whose forward() has a parameter of that name, None by default."""
    forward = getattr(type(frame.f_locals.get("self")), "forward", None)
    parameter = None if forward is None else inspect.signature(forward).parameters.get(name)
    return parameter is not None and parameter.default is None


def fits(
    call: Callable[..., object], plan: Plan, model: PreTrainedModel, maker: InputMaker | None = None
) -> bool:
    """Whether a model, or a method of one, takes these inputs on meta, as far as what `maker` makes tells."""
    error = error_of(call, plan, model, maker)
    return error is None or wants_values(error)


def error_of(
    call: Callable[..., object], plan: Plan, model: PreTrainedModel, maker: InputMaker | None = None
) -> BaseException | None:
    """What a call on meta raises."""
    return _run(call, plan, model, maker)[1]


def _apart(name: str, hint: int, meaning: str = "", source: str = "") -> int:
    """The hint of a size; more sequences than an image has channels, so that none is taken for the other."""
    return hint + 2 if name == "batch_size" else hinted(name, hint, meaning, source)


def _run(
    call: Callable[..., object], plan: Plan, model: PreTrainedModel, maker: InputMaker | None = None
) -> tuple[int, BaseException | None]:
    """How many operations a call on meta runs, and what it raises."""
    import torch

    from forwardbook.analyzers.instances.casting import casting_on_meta
    from forwardbook.analyzers.instances.pretrained.shapes_only import OnlyShapes
    from forwardbook.analyzers.instances.tensors import PlainMaker

    shapes = OnlyShapes()
    try:
        with torch.device("meta"), torch.no_grad(), casting_on_meta(), shapes:
            call(**make_inputs(plan, _apart, model.config, maker or PlainMaker("meta"), model))
    except BaseException as error:  # somebody else's forward() raises anything
        if not theirs(error):
            raise
        return shapes.steps, error
    return shapes.steps, None

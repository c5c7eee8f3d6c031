"""A run and entries in; out for each call of wanted classes whether they answer, and whether it is equal."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from forwardbook.analyzers.derive.boundary import Boundary
from forwardbook.analyzers.symbolic.trace import CallRecord
from forwardbook.entries.cost_model import CostModel
from forwardbook.entries.evaluate import Evaluation
from forwardbook.entries.refusal import OutsideRegimes
from forwardbook.errors import ForwardbookError
from forwardbook.pipeline.ordinary.run import Place, Run
from forwardbook.pipeline.ordinary.signatures import Fit, fits

State = Literal["equal", "unequal", "unanswered"]


@dataclass(frozen=True)
class Where:
    """Where a run was made: the model, the way to call it, the point."""

    model: str
    scenario: str
    place: Place


@dataclass(frozen=True)
class Answer:
    """What an entry says of a call at a point, beside what that cost."""

    full_class_name: str
    where: Where
    state: State
    reason: str = ""
    """Why there is no answer."""
    signature: str = ""
    regime: str = ""
    sizes: dict[str, int] = field(default_factory=dict)
    unequal: dict[str, tuple[int, int]] = field(default_factory=dict)
    """By quantity what the entry says and what was measured, where these are not equal."""


def answers_of(run: Run, where: Where, model: CostModel, wanted: Collection[str]) -> Iterator[Answer]:
    """An answer for each call of the classes that are wanted; calls that are alike count once."""
    keys = {model.names[key]: key for key in model.entries}
    seen: set[str] = set()
    for name, call, boundary in run.calls():
        if name not in wanted or name not in keys or call.failed:
            continue
        one = _answer(run, where, model, keys[name], call, boundary)
        if (told := repr(one)) not in seen:
            seen.add(told)
            yield one


def _answer(
    run: Run, where: Where, model: CostModel, key: str, call: CallRecord, boundary: Boundary | str
) -> Answer:
    name = model.names[key]
    if isinstance(boundary, str):
        return Answer(name, where, "unanswered", f"its boundary cannot be read: {boundary}")
    known = fits(model.regimes, key, boundary, run.widths)
    if not known:
        why = model.get(key).reason or "unproved"
        return Answer(name, where, "unanswered", f"it has no formulas: {why}")
    if known[0].differs:
        differs = "; ".join(known[0].differs)
        return Answer(name, where, "unanswered", f"no signature is this call: {differs}")
    real = run.measured(call)
    return _held(name, where, model, key, [one for one in known if not one.differs], real)


def _held(
    name: str, where: Where, model: CostModel, key: str, known: list[Fit], real: dict[str, int]
) -> Answer:
    """The answer of the likeliest signature; none where several are equally likely and do not agree."""
    reason, found = "", list[tuple[Fit, Evaluation]]()
    for one in known:
        if found and one.rank != found[0][0].rank:
            break
        try:
            found.append((one, model.evaluate(key, _given(one), signature=one.signature.name)))
        except OutsideRegimes as error:
            nearest = min(error.reasons.values(), key=len)
            reason = reason or (f"nothing tells {', '.join(one.missing)}" if one.missing else "")
            reason = reason or f"no regime holds: {'; '.join(nearest)}"
        except ForwardbookError as error:
            reason = reason or str(error)
    likeliest = found[0][0] if found else known[0]
    sizes = dict(sorted(likeliest.sizes.items()))
    answer = Answer(name, where, "unanswered", reason, likeliest.signature.name, "", sizes)
    if not found:
        return answer
    unequal = [_unequal(each, real) for _, each in found]
    if any(one != unequal[0] for one in unequal):
        told = ", ".join(repr(one.signature.name) for one, _ in found)
        return replace(answer, reason=f"its choices do not tell which of these signatures it is: {told}")
    if unequal[0] and likeliest.unsaid:
        return replace(answer, reason=f"no signature is this call: {'; '.join(likeliest.unsaid)}")
    regime = found[0][1].regime.regime.name
    state: State = "unequal" if unequal[0] else "equal"
    return replace(answer, state=state, reason="", regime=regime, unequal=unequal[0])


def _unequal(one: Evaluation, real: dict[str, int]) -> dict[str, tuple[int, int]]:
    """By quantity what formulas say and what was measured, where these differ."""
    costs = one.costs
    pairs = {name: (getattr(costs, name), value) for name, value in real.items()}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def _given(one: Fit) -> dict[str, int]:
    return {name: size for name, size in one.sizes.items() if name in one.signature.names}

"""A regime or an entry as it is stored in; out the verdict that its facts allow, and why it is no better."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from forwardbook.errors import FormulaError
from forwardbook.formula import Condition, Expr, parse
from forwardbook.formula.sides import opaque, side, text_of, unturned
from forwardbook.saying import DATA, SPELLED, is_decided
from forwardbook.schema import (
    PROVED,
    QUANTITIES,
    WIDTH_NAMES,
    Entry,
    Judge,
    Parameter,
    Proof,
    Regime,
    Validation,
    Verdict,
)

WORSE: Final[tuple[Verdict, ...]] = ("exact", "bounded", "assumed", "pinned", "unproved", "wrong")
"""The verdicts from best to worst: an entry is as good as the worst of its regimes."""
OCTAVE: Final = 2
"""Where conditions leave a size nothing twice as large as the least, they leave it a number."""
SLIVER: Final = 8
"""Where a size varies by less than this part of itself over all points, they lie within a sliver."""
_LEAST: Final = 16  # below it the points of a small number cannot but lie close together
_NAME: Final = re.compile(r"\{([^{}]+)\}")
_SCANNED: Final = 2048  # sizes that are tried where a condition is not linear in its size
_TOLD: Final = 3  # reasons in the reason of an entry


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict, and why it is no better; nothing where it is exact."""

    verdict: Verdict
    reason: str = ""


def of_regime(regime: Regime, parameters: Iterable[Parameter], *, claimed: bool = False) -> Judgement:
    """The verdict that the stored facts of a regime allow; `parameters` are those of its entry.

    What was measured is a fact of its own: a proof that is stored as `wrong` or `unproved` stays so. Formulas
    that were `claimed`, not derived, hold for what their points show: all of it must be seen to matter there.
    """
    proof = regime.proof
    if proof is None:
        return Judgement("unproved", "nobody measured it")
    if proof.verdict == "wrong" or any(point.predicted != point.measured for point in proof.points):
        return Judgement("wrong", proof.reason or "measurement refutes the formulas")
    if disputed := [judge for judge in proof.judges if judge.disagrees]:
        return Judgement("unproved", "; ".join(map(said_by, disputed)))
    if proof.static_agrees is False:
        return Judgement("unproved", "its source, read without running it, gives other formulas")
    if proof.verdict == "unproved":
        return Judgement("unproved", proof.reason or "too few random sizes could be run")
    if claimed and (unseen := _unseen(regime, proof)):
        return Judgement("unproved", unseen)
    known = {one.name: one for one in parameters}
    if pinned := [*_at_numbers(regime, known), *_within_slivers(regime, proof, known)]:
        return Judgement("pinned", "; ".join(pinned))
    if decided := [*_decided(regime)]:
        return Judgement("assumed", "; ".join(dict.fromkeys(decided)))
    of_data = [f"{{{name}}}" for name in regime.parameters if name in known and known[name].is_of_data]
    return Judgement("bounded", f"data decides {', '.join(of_data)}") if of_data else Judgement("exact")


def of_entry(entry: Entry) -> Judgement:
    """The verdict of a class: that of its worst regime; `unproved` with anything unresolved or no regime.

    What was said of it as a whole is a fact of its own: stored as `wrong` or `unproved`, it stays so.
    Of an entry that shares the formulas of another, ask with that one.
    """
    said = entry.validation
    if said.verdict not in PROVED and said.reason:
        return Judgement(said.verdict, said.reason)
    if entry.unresolved:
        rows = (f"{row.operation}: {row.reason}" for row in entry.unresolved[:_TOLD])
        return Judgement("unproved", "; ".join(rows))
    claimed = is_claimed(entry)
    each = [(one.name, of_regime(one, entry.parameters, claimed=claimed)) for one in entry.regimes]
    if not each:
        return Judgement("unproved", "no formulas are stored")
    worst = max((one.verdict for _, one in each), key=WORSE.index)
    if worst == said.verdict and said.reason and worst in ("exact", "bounded"):
        return Judgement(worst, said.reason)
    named = [f"{name}: {one.reason}" for name, one in each if one.verdict == worst and one.reason]
    return Judgement(worst, "; ".join(named[:_TOLD]))


def judged(entry: Entry) -> Entry:
    """The entry with the verdicts that its facts allow; itself if it had them.

    One that shares the formulas of another says what that one says: it is given back as it is.
    """
    if entry.same_as is not None:
        return entry
    claimed = is_claimed(entry)
    regimes = tuple(
        _judged_regime(one, of_regime(one, entry.parameters, claimed=claimed)) for one in entry.regimes
    )
    told = entry.model_copy(update={"regimes": regimes}) if regimes != entry.regimes else entry
    found = of_entry(told)
    validation = Validation(
        human_validated=entry.validation.human_validated, verdict=found.verdict, reason=found.reason
    )
    return told if validation == told.validation else told.model_copy(update={"validation": validation})


def is_claimed(entry: Entry) -> bool:
    """Whether its formulas were proposed, and measured, but not derived."""
    return "agent" in entry.derived_by


def said_by(judge: Judge) -> str:
    """What a judge that disagrees says: its name, the quantity, both numbers, the line."""
    numbers = judge.remark
    if judge.ours is not None and judge.theirs is not None:
        numbers = f"{judge.theirs:,} against our {judge.ours:,}"
    place = f"{judge.file}:{judge.line}"
    where = {"difference": f" from {place} on", "peak": f" (ours is at {place})", "": ""}[judge.line_is]
    return f"{judge.name} says otherwise of {judge.quantity}{where}: {numbers or 'in some runs'}"


def disputes(entry: Entry) -> Iterator[tuple[Regime, Judge]]:
    """Each judge that disagrees, with the regime that it was asked of."""
    for one in entry.regimes:
        yield from ((one, judge) for judge in (one.proof.judges if one.proof else ()) if judge.disagrees)


def _judged_regime(regime: Regime, found: Judgement) -> Regime:
    proof = regime.proof
    if proof is None or (proof.verdict, proof.reason) == (found.verdict, found.reason):
        return regime
    said = {"verdict": found.verdict, "reason": found.reason}
    return regime.model_copy(update={"proof": proof.model_copy(update=said)})


def _unseen(regime: Regime, proof: Proof) -> str:
    """What in the formulas took one value, or was decided one way, at all points; empty if nothing did."""
    lines = [(one.flops, one.pointwise_ops) for one in regime.flop_analysis.lines]
    lines += [(one.reads, one.writes) for one in regime.memory_analysis.lines]
    texts = {*(regime.formula(quantity) for quantity in QUANTITIES), *itertools.chain(*lines)}
    try:
        for atom in opaque(map(parse, sorted(texts))):
            if lacking := unturned(atom, (side(atom, point.sizes) for point in proof.points)):
                return f"{text_of(atom)}: {lacking} at any point that was measured"
    except FormulaError as error:
        return str(error)
    return ""


def _decided(regime: Regime) -> Iterator[str]:
    """What was decided of data in the calls of a regime: its own lines ask for it, not those of a caller."""
    names = {name for line in regime.flop_analysis.lines for name in line.operations}
    asked = {word for word in _ASKING for name in names if word in name}
    for text in regime.assumptions:
        if text.startswith(SPELLED):
            yield text
        wanted = _ASKING[:_SCALARS] if text.startswith(DATA) else _ASKING[_SCALARS:]
        if is_decided(text) and (not names or not asked.isdisjoint(wanted)):
            yield text


_ASKING: Final = ("_local_scalar_dense", "is_nonzero", "item", "equal", "nonzero", "index", "masked_select")
"""How operations are called that ask data for a number or a truth, then those that take what a mask keeps."""
_SCALARS: Final = 4


def _at_numbers(regime: Regime, known: Mapping[str, Parameter]) -> Iterator[str]:
    """The sizes that the conditions hold at a number, or within less than an octave.

    Those that a caller chooses; of what a constructor is told, lengths that are left a few numbers.
    """
    of: dict[str, list[str]] = {}
    for text in regime.conditions:
        names = frozenset(_NAME.findall(text))
        if len(names) == 1 and (one := known.get(*names)) is not None and not one.is_of_data:
            of.setdefault(one.name, []).append(text)
    for name, texts in of.items():
        if name in WIDTH_NAMES or (left := _held(name, tuple(texts))) is None:
            continue
        low, high = left
        if known[name].is_of_call or _LEAST <= low < high:
            yield f"{{{name}}} is {low:,}" if low == high else f"{{{name}}} is between {low:,} and {high:,}"


@lru_cache(maxsize=4096)
def _held(name: str, texts: tuple[str, ...]) -> tuple[int, int] | None:
    """What `values_left` says of written conditions; many regimes have the same."""
    try:
        return values_left(name, [Condition.parse(text) for text in texts])
    except FormulaError:
        return None


def values_left(name: str, conditions: Sequence[Condition]) -> tuple[int, int] | None:
    """The least and the largest number that conditions on one size leave it, if it is held there.

    None where it may be twice as large as it may be small, and where it is 0 or 1: code splits there.
    """
    low, high = 0, None
    others: list[Condition] = []
    for condition in conditions:
        limits = _limits(name, condition)
        if limits is None:
            others.append(condition)
            continue
        low = max(low, limits[0])
        high = limits[1] if high is None else high if limits[1] is None else min(high, limits[1])
    if high is not None and high < low:
        return None
    if others:
        until = low + _SCANNED if high is None else min(high, low + _SCANNED)
        left: list[int] = []
        for number in range(low, until + 1):
            if all(c.is_met({name: number}) for c in others):
                left.append(number)
                if number >= OCTAVE * max(left[0], 1):
                    return None
        if not left or (until != high and OCTAVE * max(left[0], 1) > until // OCTAVE):
            return None  # too few were tried to say that there is no other
        low, high = left[0], left[-1]
    if high is None or high <= 1 or high >= OCTAVE * max(low, 1):
        return None
    return low, high


def _limits(name: str, condition: Condition) -> tuple[int, int | None] | None:
    """The least and the largest size of a linear condition; None of any other, and of `!=`."""
    difference = condition.left - condition.right
    try:
        slope = difference.subs({name: 2}) - difference.subs({name: 1})
        at_zero = difference.subs({name: 1}) - slope
        linear = slope * Expr.symbol(name) + at_zero == difference
        a, b, op = slope.const_value(), at_zero.const_value(), condition.op
    except FormulaError:  # a fraction, or a division by what is zero there
        return None
    if op == "!=" or not linear:
        return None
    if a < 0:
        a, b, op = -a, -b, _TURNED[op]
    if a == 0:
        return 0, None
    match op:  # a * size + b `op` 0
        case "==":
            return (-b // a, -b // a) if b % a == 0 else None
        case ">=":
            return max(-(b // a), 0), None
        case ">":
            return max(-b // a + 1, 0), None
        case "<=":
            return 0, -b // a
    return 0, -(b // a) - 1


_TURNED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "=="}


def _within_slivers(regime: Regime, proof: Proof, known: Mapping[str, Parameter]) -> Iterator[str]:
    """The sizes of formulas that vary by less than a small part of themselves over all points."""
    for name in regime.parameters:
        values = {point.sizes[name] for point in proof.points if name in point.sizes}
        of_data = name in known and known[name].is_of_data
        if name in WIDTH_NAMES or of_data or not values or min(values) < _LEAST:
            continue
        if len(values) == 1:
            yield f"at all points {{{name}}} is {min(values):,}"
        elif max(values) - min(values) < min(values) // SLIVER:
            yield f"at all points {{{name}}} is between {min(values):,} and {max(values):,}"

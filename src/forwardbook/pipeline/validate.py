"""Names of stored entries in; out, for each, whether proving it again gives the same polynomials."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from forwardbook.errors import ForwardbookError
from forwardbook.formula import FormulaError, parse
from forwardbook.pipeline.analysis.one import Run
from forwardbook.pipeline.child.job import Limits
from forwardbook.pipeline.child.process import run_child
from forwardbook.pipeline.child.response_entry import is_refuted, output_of, read_entry
from forwardbook.pipeline.regenerate.asked_again import asked_again, derived_as, subject_of
from forwardbook.registry import find
from forwardbook.saying import BUILT, LEFT_OUT
from forwardbook.schema import QUANTITIES, Entry, Regime
from forwardbook.workspace import Database, Workspace


@dataclass(frozen=True, slots=True)
class Check:
    """What came of proving one entry again: no differences, or each of them in words."""

    key: str
    full_class_name: str
    verdict: str
    differences: tuple[str, ...]
    seconds: float

    @property
    def agrees(self) -> bool:
        """Whether nothing differs."""
        return not self.differences


def validate(
    names: Sequence[str],
    *,
    seed: int,
    workspace: Workspace | None = None,
    limits: Limits | None = None,
    run: Run = run_child,
    started: Callable[[str], None] = lambda name: None,
) -> Iterator[Check]:
    """A check of each named entry, or of all of the workspace, at sizes drawn from `seed`."""
    database = (workspace or Workspace.find()).load()
    for key in [find(database, name) for name in names] or sorted(database.own):
        started(database[key].full_class_name)
        yield _check(key, database, seed, limits or Limits.given(), run)


def _check(key: str, database: Database, seed: int, limits: Limits, run: Run) -> Check:
    begin = time.monotonic()
    entry = database[key]
    try:
        again = _derived_again(entry, seed, limits, run)
        found = tuple(differences(database.resolved(key)[1], again))
        if again.source_hash and again.validation.verdict != entry.validation.verdict:
            found = (f"the verdict was {entry.validation.verdict}, now {_verdict(again)}", *found)
        verdict: str = again.validation.verdict
    except ForwardbookError as error:
        found, verdict = (str(error),), "unproved"
    return Check(key, entry.full_class_name, verdict, found, time.monotonic() - begin)


def _verdict(entry: Entry) -> str:
    reason = entry.validation.reason
    return f"{entry.validation.verdict}{reason and f' ({reason})'}"


def _derived_again(entry: Entry, seed: int, limits: Limits, run: Run) -> Entry:
    wanted = subject_of(entry, Path.cwd())
    if wanted.source_hash != entry.source_hash or entry.code_hash not in ("", wanted.code_hash()):
        raise ForwardbookError(
            f"the source of {entry.full_class_name} changed since it was analysed; "
            f"analyse it again: forwardbook analyze-module {entry.full_class_name}"
        )
    response = asked_again(
        entry,
        wanted,
        limits,
        seed=seed,
        roots=wanted.roots,
        derive=derived_as(entry),
        flips=any(_is_flip(text) for one in entry.regimes for text in one.assumptions),
        run=run,
    )
    again = read_entry(response, entry.full_class_name)
    if response.problem is not None or again is None or is_refuted(again):
        lines = [response.problem or "the measurement refuted the formula", *output_of(response)[-8:]]
        raise ForwardbookError("\n".join(lines))
    return again


def _is_flip(assumption: str) -> bool:
    return assumption.startswith(BUILT) and not assumption.endswith(LEFT_OUT)


def differences(stored: Entry, again: Entry) -> Iterator[str]:
    """What two entries of one class state differently, regime by regime, line by line."""
    ours, theirs = ({r.name: r for r in entry.regimes} for entry in (stored, again))
    for name in ours.keys() - theirs.keys():
        yield f"regime {name}: it is stored, and was not found again"
    for name in theirs.keys() - ours.keys():
        yield f"regime {name}: it was found now, and is not stored"
    for name in [name for name in ours if name in theirs]:
        yield from _regime_differences(ours[name], theirs[name])
    holes = [sorted((h.operation, h.reason) for h in entry.unresolved) for entry in (stored, again)]
    if holes[0] != holes[1]:
        yield f"unresolved operations: {len(holes[0])} stored, {len(holes[1])} found now, or others"


def _regime_differences(stored: Regime, again: Regime) -> Iterator[str]:
    for quantity in QUANTITIES:
        was, now = stored.formula(quantity), again.formula(quantity)
        if not same(was, now):
            yield f"regime {stored.name}, {quantity}: stored {was}, now {now}"
    if set(stored.conditions) != set(again.conditions):
        yield f"regime {stored.name}, conditions: stored {_list(stored)}, now {_list(again)}"
    was_lines, now_lines = _lines(stored), _lines(again)
    for place in sorted(was_lines.keys() | now_lines.keys()):
        was_texts, now_texts = was_lines.get(place, ("0",) * 4), now_lines.get(place, ("0",) * 4)
        if not all(same(a, b) for a, b in zip(was_texts, now_texts, strict=True)):
            yield f"regime {stored.name}, {place[1]}: stored {was_texts}, now {now_texts}"


def same(left: str, right: str) -> bool:
    """Whether two formulas are the same polynomial."""
    try:
        return left == right or parse(left) == parse(right)
    except FormulaError:
        return False


def _list(regime: Regime) -> str:
    return "; ".join(regime.conditions) or "none"


def _lines(regime: Regime) -> dict[tuple[int, str], tuple[str, ...]]:
    """The four formulas of each line by its code and its distance from the first: moving is no change."""
    flops = {(x.line, x.code): (x.flops, x.pointwise_ops) for x in regime.flop_analysis.lines}
    moved = {(x.line, x.code): (x.reads, x.writes) for x in regime.memory_analysis.lines}
    first = min((line for line, _ in (*flops, *moved)), default=0)
    return {
        (line - first, code): (*flops.get((line, code), ("0", "0")), *moved.get((line, code), ("0", "0")))
        for line, code in dict.fromkeys((*flops, *moved))
    }

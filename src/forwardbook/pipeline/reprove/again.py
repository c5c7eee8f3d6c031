"""Stored entries in; out, for each, whether its formulas give what is measured at fresh, larger sizes."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final, Literal, cast

from pydantic import JsonValue, ValidationError

from forwardbook.errors import ForwardbookError
from forwardbook.pipeline.catalogue.copies import whole
from forwardbook.pipeline.child.job import Limits
from forwardbook.pipeline.child.process import run_child
from forwardbook.pipeline.child.request import Request, Response
from forwardbook.pipeline.regenerate.asked_again import asked_again, derived_as, subject_of
from forwardbook.pipeline.spread import HERE, Spread
from forwardbook.schema import Entry, ProofPoint, Record
from forwardbook.workspace import Database
from forwardbook.workspace.families import family_of

SCALE: Final = 10
"""How many times larger than the sizes of a proof those of a reproof are."""
TOGETHER: Final = 12  # entries for one process: classes of one model share its runs
CALLERS: Final = 6  # classes through which one is reached that stands in no model by itself
SECONDS: Final = 40.0  # of the processor for one entry
PATIENT: Final = 160.0  # for one by itself for which these were too few among the others of its family
WORKER: Final = "forwardbook.pipeline.reprove.work:work"
NARROWING: Final = "forwardbook.pipeline.reprove.narrowing:work"
DEEP: Final = "forwardbook.pipeline.reprove.deep:work"
EACH: Final = "forwardbook.pipeline.reprove.each:work"
PEAKS: Final = "forwardbook.pipeline.reprove.lacking:work"
RECORDED: Final = "forwardbook.pipeline.reprove.recorded:work"
LATE: Final = "it took longer than an entry is given"
AGAIN: Final = "again"
"""Under this name the diagnostics of a response hold the results."""

State = Literal["equal", "uncovered", "different", "unmeasured"]
"""`uncovered`: it gives the numbers of a call; beside that one was made which no regime gives."""

Run = Callable[[Request, Limits, str], Response]


class RegimeAgain(Record):
    """One regime measured again: at how many points, how much larger the sizes were, what was amiss."""

    name: str
    state: State
    points: int = 0
    times: float = 0.0
    """The median over its sizes of how many times larger each was than where it was proved."""
    reason: str = ""
    sizes: dict[str, int] = {}
    differences: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    """Conditions of other classes without which it was seen to fail, where these were looked for."""
    proved: tuple[ProofPoint, ...] = ()
    """Points that meet what it needs, where its proof has too few of them."""
    places: tuple[str, ...] = ()
    """Where it is called, where a deeper model was seen to have layers of which it is not."""
    states: tuple[str, ...] = ()
    """Of live storage, what its peak lacked: larger at some sizes than all that it names."""


class EntryAgain(Record):
    """One entry measured again."""

    key: str
    full_class_name: str
    regimes: tuple[RegimeAgain, ...] = ()
    reason: str = ""
    """Why none of its regimes was measured."""

    @property
    def state(self) -> State:
        """`different` where any regime is, else `uncovered`; `equal` where any was measured."""
        states = {one.state for one in self.regimes}
        order: tuple[State, ...] = ("different", "uncovered", "equal")
        return next((one for one in order if one in states), "unmeasured")


@dataclass(frozen=True, slots=True)
class Reproof:
    """How entries are measured again: the seed of sizes and draws, how much larger, within which limits."""

    seed: int
    scale: int = SCALE
    limits: Limits = Limits()
    spread: Spread = HERE
    run: Run = run_child
    worker: str = WORKER
    """What is done with entries: they are measured, or, by NARROWING, held against what others of their
    family say, by DEEP, against models of more layers, by EACH, at sizes changed one by one, by PEAKS, at
    sizes at which a state that a peak does not name would be the largest, or, by RECORDED, at the very points
    of its proof."""

    @property
    def together(self) -> int | None:
        """Entries for one process: what narrows one any of its family may say; deep runs serve all."""
        return TOGETHER if self.worker in (WORKER, RECORDED) else None


@dataclass(frozen=True, slots=True)
class _Group:
    keys: tuple[str, ...]
    entries: tuple[Entry, ...]
    roots: tuple[str, ...]
    callers: tuple[str, ...] = ()
    """Classes through which one is reached that stands in no model by itself."""
    seconds: float = SECONDS
    """Of the processor, for each entry."""


def drawn(
    keys: Sequence[str], sample: int | None, seed: int, is_fit: Callable[[str], bool] = lambda key: True
) -> list[str]:
    """So many of the keys that are fit, drawn from the seed, in their order; without a number all keys."""
    if sample is None:
        return sorted(keys)
    order = sorted(keys)
    random.Random(seed).shuffle(order)
    return sorted(islice(filter(is_fit, order), sample))


def is_fit(key: str, database: Database, worker: str = WORKER) -> bool:
    """Whether there is something to measure again: formulas that were derived by running the class."""
    return not _unfit(_whole(database, key), worker)


def reprove(keys: Sequence[str], database: Database, how: Reproof, folder: Path) -> Iterator[EntryAgain]:
    """Each entry measured again, as groups of them are done; `folder` is where own code is looked for."""
    groups: list[_Group] = []
    roots_of: dict[str, tuple[str, ...]] = {}
    for key in keys:
        entry = _whole(database, key)
        if (reason := _unfit(entry, how.worker)) != "":
            yield EntryAgain(key=key, full_class_name=entry.full_class_name, reason=reason)
            continue
        if entry.proposal is not None:
            yield _claimed_again(key, entry, how, folder)
            continue
        roots = subject_of(entry, folder).roots if entry.code_hash else ()
        roots_of[key] = roots
        _put(groups, key, entry, roots, how.together)
    waiting: list[EntryAgain] = []
    for results in how.spread(partial(_measured, how=how), groups):
        for one in results:
            if one.state == "unmeasured":
                waiting.append(one)
            else:
                yield one
    callers = _callers(waiting, database)
    alone: list[_Group] = []
    for one in waiting:
        entry, roots, late = _whole(database, one.key), roots_of[one.key], LATE in one.reason
        if callers[one.key] or late:
            seconds = PATIENT if late else SECONDS
            alone.append(_Group((one.key,), (entry,), roots, callers[one.key], seconds))
        else:
            yield one
    for results in how.spread(partial(_measured, how=how), alone):
        yield from results


def _whole(database: Database, key: str) -> Entry:
    """The entry with its formulas; a copy still says whose they are: its lines are that class's."""
    return whole(database, key).model_copy(update={"same_as": database.head(key).same_as})


def _callers(waiting: Sequence[EntryAgain], database: Database) -> dict[str, tuple[str, ...]]:
    """For each class that nothing by itself leads to, some of those whose entries say that they call it."""
    found: dict[str, list[str]] = {one.full_class_name: [] for one in waiting}
    for key in database if found else ():
        entry = database[key]
        called = {call.class_name for one in entry.regimes for call in one.flop_analysis.submodule_calls}
        for name in called & found.keys():
            found[name].append(entry.full_class_name)
    return {one.key: tuple(found[one.full_class_name][:CALLERS]) for one in waiting}


def _unfit(entry: Entry, worker: str) -> str:
    if entry.proposal is not None:
        plain = "its formulas were proposed: `forwardbook reprove` alone measures such formulas again"
        return "" if worker in (WORKER, RECORDED) else plain
    if derived_as(entry) == "static":
        return "it was read and never run: its code is not run now"
    if worker == DEEP and entry.same_as is not None:
        return "its places are those of the class whose formulas it has"
    return "" if entry.regimes else "it has no formulas"


def _claimed_again(key: str, entry: Entry, how: Reproof, folder: Path) -> EntryAgain:
    """Formulas that were proposed, held against new runs beyond all of their thresholds, as at first."""
    try:
        wanted = subject_of(entry, folder)
        response = asked_again(
            entry, wanted, how.limits, seed=how.seed, roots=wanted.roots, derive=derived_as(entry)
        )
    except ForwardbookError as error:
        return EntryAgain(key=key, full_class_name=entry.full_class_name, reason=str(error).splitlines()[0])
    points = response.diagnostics.get("points")
    measured = len(points) if isinstance(points, list) else 0
    told = response.plainly(entry.full_class_name) if response.problem is not None else ""
    lines = tuple(told.splitlines())
    if lines and response.problem_kind != "wrong":
        return EntryAgain(key=key, full_class_name=entry.full_class_name, reason=lines[0])
    state: State = "different" if lines else "equal"
    regime = RegimeAgain(name=entry.regimes[0].name, state=state, points=measured, differences=lines)
    return EntryAgain(key=key, full_class_name=entry.full_class_name, regimes=(regime,))


def _put(groups: list[_Group], key: str, entry: Entry, roots: tuple[str, ...], together: int | None) -> None:
    """Entries of one family are measured by one process, as many as it may hold."""
    for place, one in enumerate(groups):
        alike = _family(one.entries[0]) == _family(entry) and one.roots == roots
        if alike and (together is None or len(one.keys) < together):
            groups[place] = _Group((*one.keys, key), (*one.entries, entry), roots)
            return
    groups.append(_Group((key,), (entry,), roots))


def _family(entry: Entry) -> str:
    return family_of(entry.full_class_name, entry.library, bool(entry.code_hash)) or entry.library


def _measured(group: _Group, how: Reproof) -> list[EntryAgain]:
    """What came of a group; where its process ended before, each entry by itself."""
    entries = {key: one.model_dump(mode="json") for key, one in zip(group.keys, group.entries, strict=True)}
    request = Request(
        target=group.entries[0].full_class_name,
        roots=group.roots,
        seed=how.seed,
        scale=how.scale,
        budget=group.seconds,
        stored=cast("dict[str, JsonValue]", entries),
        wanted=group.callers,
    )
    seconds = how.limits.seconds * len(group.keys)
    response = how.run(request, Limits(how.limits.memory_gb, seconds), how.worker)
    if (found := _results(response, group.keys)) is not None:
        return found
    if len(group.keys) == 1:
        name = group.entries[0].full_class_name
        reason = response.plainly(name).splitlines()[0]
        return [EntryAgain(key=group.keys[0], full_class_name=name, reason=reason)]
    singles = [
        _Group((key,), (entry,), group.roots) for key, entry in zip(group.keys, group.entries, strict=True)
    ]
    return [result for one in singles for result in _measured(one, how)]


def _results(response: Response, keys: Sequence[str]) -> list[EntryAgain] | None:
    """The results of a process, one for each key; None where it gave none."""
    try:
        told = cast("list[JsonValue]", response.diagnostics[AGAIN])
        found = [EntryAgain.model_validate(one) for one in told]
    except (KeyError, TypeError, ValidationError):
        return None
    return found if response.problem is None and sorted(one.key for one in found) == sorted(keys) else None

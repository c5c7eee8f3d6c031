"""A workspace in; out its stale entries derived and proved again, stored as they come, and what changed.

Whatever ends it, a finished class is kept: first its outcome in `.forwardbook`, then, a few seconds later and
for many classes at once, its entry in the database. Run again, it takes up what is there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from pydantic import JsonValue, ValidationError

from forwardbook import generate
from forwardbook.analyzers.ops import RULES_VERSION
from forwardbook.errors import ForwardbookError
from forwardbook.guard.regenerated import Regenerated
from forwardbook.pipeline.catalogue.copies import copies_again, whole
from forwardbook.pipeline.child.job import Limits
from forwardbook.pipeline.regenerate.ask import ask, is_waiting
from forwardbook.pipeline.regenerate.catalogue import of_catalogue, rebuild
from forwardbook.pipeline.regenerate.derive import Keeping, Outcome, Task, derive, found_for
from forwardbook.pipeline.regenerate.rows import Before, rows
from forwardbook.pipeline.regenerate.stale import Stale, readable, stale_entries
from forwardbook.pipeline.spread import Spread
from forwardbook.pipeline.store import check_writable, remove_diagnostics, store_all, write_diagnostics
from forwardbook.registry import find
from forwardbook.schema import Entry
from forwardbook.workspace import Database, Workspace
from forwardbook.workspace.kept_outcomes import KeptOutcomes, remove_leftovers
from forwardbook.workspace.storage import locked

if TYPE_CHECKING:
    from forwardbook.agents.choose import Chosen

FLUSH_SECONDS: Final = 5.0
"""How long finished entries wait for each other: writing the database takes the longer the more it holds."""
Told = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Wanted:
    """What is to be regenerated, and how."""

    names: tuple[str, ...] = ()
    library: str = ""
    every: bool = False
    spread: Spread = Spread()
    limits: Limits = field(default_factory=Limits.given)
    chosen: Chosen | None = None
    force: bool = False
    drop_gone: bool = False
    stop_after: float = 0.0
    """Seconds after which no further outcome is waited for; 0 for no end."""


def stale(workspace: Workspace, wanted: Wanted, told: Told = lambda doing, done, total: None) -> list[Stale]:
    """The entries that a regeneration would derive again, each with why; nothing is run or written."""
    database = workspace.load()
    keys, _ = readable(database, _keys(database, wanted))
    found = stale_entries(keys, database, workspace.root, _counting(told, len(keys)), wanted.every)
    return [one for one in found if wanted.chosen is not None or not is_waiting(one)]


def regenerate(
    workspace: Workspace,
    wanted: Wanted,
    told: Told = lambda doing, done, total: None,
    work: Callable[[Task], Outcome] = derive,
    tell: Callable[[Regenerated], object] = lambda found: None,
) -> Regenerated:
    """Derive, prove and store every stale entry; what became of each, over interrupted runs too.

    `tell` is given that, and only then is the plan forgotten: killed before, the next run tells it.

    Raises:
        ForwardbookError: where the database cannot be written, a name is unknown, a cluster does not answer.
    """
    check_writable(workspace)
    kept = KeptOutcomes(workspace.root)
    with kept.alone():
        with locked(workspace.generated_folder), locked(workspace.database_path):
            remove_leftovers(workspace.root, workspace.generated_folder)
        kept.drop_old()
        return _Run(workspace, wanted, told, work, kept, tell).result()


def _keys(database: Database, wanted: Wanted) -> list[str]:
    named = [find(database, name) for name in wanted.names] or sorted(database.own)
    return [key for key in named if not wanted.library or database.head(key).library == wanted.library]


def _counting(told: Told, total: int) -> Callable[[str], None]:
    seen = iter(range(total + 1))
    return lambda name: told(f"reading {name}", next(seen), total)


@dataclass
class _Run:
    workspace: Workspace
    wanted: Wanted
    told: Told
    work: Callable[[Task], Outcome]
    kept: KeptOutcomes
    tell: Callable[[Regenerated], object]
    before: dict[str, Before] = field(default_factory=dict)
    problems: dict[str, Outcome] = field(default_factory=dict)
    ready: list[Outcome] = field(default_factory=list)
    flushed: float = 0.0

    def result(self) -> Regenerated:
        """Everything, from finding what is stale to the report."""
        database = self.workspace.load()
        keys, bad = readable(database, _keys(database, self.wanted))
        reader = _counting(self.told, len(keys))
        found = list(stale_entries(keys, database, self.workspace.root, reader, self.wanted.every))
        notes = [f"{key} cannot be read: {why}" for key, why in bad.items()]
        waiting = [one for one in found if is_waiting(one) and self.wanted.chosen is None]
        if waiting:
            names = ", ".join(one.entry.full_class_name for one in waiting[:6])
            notes.append(f"{len(waiting)} entries wait for a model to be asked again (--analyst): {names}")
        found = [one for one in found if one not in waiting]
        resumed = self._take_plan(found, database)
        stale_keys = {one.key for one in (*found, *waiting)} | self.before.keys()  # of interrupted runs too
        fresh = [key for key in keys if key not in stale_keys]
        left: list[str] = []
        if found:
            left = self._work(found, resumed)
        if left:
            notes.append(f"{len(left)} stale entries are left for the next run: time was over")
            self.before = {key: one for key, one in self.before.items() if key not in left}
        if self.wanted.chosen is not None:
            asked = [one for one in found if one.key not in self.problems or not one.is_gone]
            notes += ask(self.workspace, asked, self.wanted.chosen, self.wanted.limits, self.told)
        self._share_again()
        removed = self._drop_gone() if self.wanted.drop_gone else set()
        report = rows(self.before, self.problems, self.workspace.load(), removed)
        done = Regenerated(tuple(report), len(fresh), tuple(notes))
        self.tell(done)
        self.kept.finish()
        return done

    def _work(self, found: Sequence[Stale], resumed: bool) -> list[str]:
        """Derive each by itself, or where the catalogue has it through the models that it has; keys left."""
        begin = self.flushed = time.monotonic()
        until = begin + (self.wanted.stop_after or float("inf"))
        catalogued = of_catalogue(found, self.workspace)
        alone = [one for one in found if one not in catalogued]
        try:
            left = self._derive(alone, resumed, until)
        finally:
            self._flush()
        if catalogued and time.monotonic() <= until:
            rebuilt = rebuild(catalogued, self.workspace, self.wanted.spread, self.told, until)
            self.problems |= rebuilt.problems
            return left + rebuilt.left
        return left + [one.key for one in catalogued]

    def _take_plan(self, found: Sequence[Stale], database: Database) -> bool:
        """Remember the entries as they were before the first of the runs; whether one was interrupted."""
        plan = self.kept.plan()
        resumed = plan is not None and plan.get("before") is not None
        if plan is not None and resumed:
            kept = cast("dict[str, dict[str, JsonValue]]", plan["before"])
            self.before = {key: Before.model_validate(value) for key, value in kept.items()}
        for one in found:
            first = self.before.get(one.key)
            if first is None:
                entry = whole(database, one.key).model_dump(mode="json")
                first = Before(entry=entry, same_as=one.entry.same_as)
            self.before[one.key] = first.model_copy(update={"reasons": one.reasons})
        if self.before:
            self.kept.keep_plan({"before": {k: b.model_dump(mode="json") for k, b in self.before.items()}})
        return resumed

    def _derive(self, found: Sequence[Stale], resumed: bool, until: float) -> list[str]:
        """Derive all, or as many as there is time for; the keys of those that are left."""
        tasks = {one.key: self._task(one) for one in found}
        total, count = len(tasks), 0
        for outcome in self._kept_outcomes(tasks, resumed):
            del tasks[outcome.key]
            count += 1
            self._take(outcome)
            self.told(f"kept {outcome.full_class_name}", count, total)
        work = Keeping(self.work, str(self.workspace.root))
        for outcome in self.wanted.spread(work, list(tasks.values())):
            del tasks[outcome.key]
            count += 1
            self._take(outcome)
            state = outcome.problem_kind or "derived"
            self.told(f"{state} {outcome.full_class_name} ({outcome.seconds:.1f} s)", count, total)
            if time.monotonic() > until:
                break
        return list(tasks)

    def _task(self, one: Stale) -> Task:
        limits = self.wanted.limits
        return Task(
            key=one.key,
            entry=one.entry.model_dump(mode="json"),
            folder=str(self.workspace.root),
            memory_gb=limits.memory_gb,
            seconds=limits.seconds,
        )

    def _kept_outcomes(self, tasks: dict[str, Task], resumed: bool) -> Iterator[Outcome]:
        """What an interrupted run, or a check, derived from the same code; problems only of the former."""
        if not (self.kept.folder / "derived").is_dir():
            return
        for task in list(tasks.values()):
            outcome = kept_outcome(self.kept, task)
            if outcome is not None and (outcome.entry is not None or resumed):
                yield outcome

    def _take(self, outcome: Outcome) -> None:
        if outcome.entry is None:
            self.problems[outcome.key] = outcome
            if outcome.problem_kind == "wrong":
                measured = {name: said for name, said in outcome.diagnostics.items() if name != "output"}
                write_diagnostics(outcome.key, measured, self.workspace)
            return
        self.ready.append(outcome)
        if time.monotonic() - self.flushed > FLUSH_SECONDS:
            self._flush()

    def _flush(self) -> None:
        """Store what is ready; where a calculator was edited by hand, the others all the same."""
        self.flushed, ready = time.monotonic(), self.ready
        self.ready = []
        entries = [Entry.model_validate(outcome.entry) for outcome in ready]
        try:
            store_all(entries, self.workspace, RULES_VERSION, force=self.wanted.force)
        except ForwardbookError:
            for outcome, entry in zip(ready, entries, strict=True):
                self._store_one(outcome, entry)
        for outcome in ready:
            remove_diagnostics(outcome.key, self.workspace)
        self.flushed = time.monotonic()

    def _store_one(self, outcome: Outcome, entry: Entry) -> None:
        try:
            store_all([entry], self.workspace, RULES_VERSION, force=self.wanted.force)
        except ForwardbookError as error:
            update = {"entry": None, "problem": str(error), "problem_kind": "edited"}
            self.problems[outcome.key] = outcome.model_copy(update=update)

    def _share_again(self) -> None:
        """Copies whose code did not change lead to the same entry again, if that says the same of both."""
        database = self.workspace.load()
        before = {key: was for key, one in self.before.items() if (was := one.stored()) is not None}
        copies = copies_again(before, [key for key in before if key not in self.problems], database)
        if copies:
            files = [self.workspace.generated_folder / database[key].generated_file_name for key in copies]
            self.workspace.save(copies, rules_version=RULES_VERSION)
            for path in files:
                generate.remove(path)

    def _drop_gone(self) -> set[str]:
        gone = {key for key, outcome in self.problems.items() if outcome.problem_kind == "gone"}
        if gone:
            self.workspace.save({}, remove=gone)
        return gone


def kept_outcome(kept: KeptOutcomes, task: Task) -> Outcome | None:
    """What was derived from the very code that a task is about, if it is kept."""
    try:
        fingerprint = found_for(task, Entry.model_validate(task.entry)).fingerprint
        text = kept.get(fingerprint)
        outcome = Outcome.model_validate_json(text) if text is not None else None
    except (ForwardbookError, ValidationError):
        return None
    return outcome if outcome is not None and outcome.key == task.key else None


def reports(found: Regenerated, places: Sequence[Path], root: Path) -> list[Path]:
    """The report on disk, as Markdown or JSON by the ending of each place; by default in `.forwardbook`."""
    import json

    from forwardbook.guard.regenerated import regenerated_json, regenerated_markdown
    from forwardbook.workspace import write_atomically

    places = places or [root / ".forwardbook" / name for name in ("regenerated.md", "regenerated.json")]
    for path in places:
        if path.suffix == ".json":
            text = json.dumps(regenerated_json(found), indent=1, ensure_ascii=False) + "\n"
        else:
            text = regenerated_markdown(found)
        write_atomically(path, text)
    return list(places)

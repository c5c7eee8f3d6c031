"""Stored entries in; their entries as the code is now out: the stored one where it is fresh, else derived."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from forwardbook.guard.findings import Trouble
from forwardbook.pipeline.child.job import Limits
from forwardbook.pipeline.located import file_of
from forwardbook.pipeline.regenerate.derive import Keeping, Outcome, Task, derive
from forwardbook.pipeline.regenerate.run import kept_outcome
from forwardbook.pipeline.regenerate.stale import stale_entry
from forwardbook.pipeline.spread import Spread
from forwardbook.schema import PROVED, Entry
from forwardbook.workspace.kept_outcomes import KeptOutcomes

Told = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Current:
    """What is known of a class now: its entry and why it was looked at again, or the problem."""

    key: str
    full_class_name: str
    entry: Entry | None = None
    reasons: tuple[str, ...] = ()
    problem: str = ""
    derived: bool = False
    gone: bool = False
    """Whether there is no such class any more."""

    def trouble(self, before: Entry, folder: Path) -> Trouble:
        """The problem, at the place where the class was."""
        advice = "; if that is meant: forwardbook regenerate --drop-gone" if self.gone else ""
        reason, line = f"{self.problem}{advice}", before.code_location.line_start
        return Trouble(self.key, self.full_class_name, reason, file_of(before, folder), line)


@dataclass(frozen=True)
class Now:
    """How the present state is found: `folder` holds the code, `kept` what was derived before."""

    folder: Path
    kept: KeptOutcomes
    spread: Spread = Spread()
    limits: Limits = Limits()
    roots: tuple[str, ...] = ()
    told: Told = lambda doing, done, total: None
    every: bool = False
    """Whether fresh entries are derived too, so that both sides of a comparison are made in the same way."""
    work: Callable[[Task], Outcome] = derive

    def of(self, entries: Mapping[str, Entry], rules: str) -> Iterator[Current]:
        """Each class as its code is now; `rules` is the version of rules of entries that name none."""
        tasks: dict[str, Task] = {}
        reasons: dict[str, tuple[str, ...]] = {}
        for key, entry in entries.items():
            if self.every:
                reasons[key] = ()
            else:
                found = stale_entry(key, entry, rules, self.folder, entry.operations)
                if found is None or (found.of_rules and not _is_proved(entry)):
                    yield Current(key, entry.full_class_name, entry)
                    continue
                reasons[key] = found.reasons
            tasks[key] = self._task(key, entry)
        for outcome in self._outcomes(list(tasks.values())):
            yield _current(outcome, reasons[outcome.key])

    def _outcomes(self, tasks: Sequence[Task]) -> Iterator[Outcome]:
        total, open_ = len(tasks), []
        for task in tasks:
            kept = kept_outcome(self.kept, task)
            if kept is not None and kept.entry is not None:
                yield kept
            else:
                open_.append(task)
        work = Keeping(self.work, str(self.kept.root))
        for count, outcome in enumerate(self.spread(work, open_), total - len(open_) + 1):
            self.told(f"{outcome.problem_kind or 'derived'} {outcome.full_class_name}", count, total)
            yield outcome

    def _task(self, key: str, entry: Entry) -> Task:
        return Task(
            key=key,
            entry=entry.model_dump(mode="json"),
            folder=str(self.folder),
            roots=self.roots,
            memory_gb=self.limits.memory_gb,
            seconds=self.limits.seconds,
        )


def _is_proved(entry: Entry) -> bool:
    """Whether any formula of an entry is proved: where none is there is nothing that other rules change."""
    return any(one.proof is not None and one.proof.verdict in PROVED for one in entry.regimes)


def _current(outcome: Outcome, reasons: tuple[str, ...]) -> Current:
    entry = Entry.model_validate(outcome.entry) if outcome.entry is not None else None
    gone = outcome.problem_kind == "gone"
    return Current(outcome.key, outcome.full_class_name, entry, reasons, outcome.problem, True, gone)

"""What a comparison of two states found, as one value: changes, budgets, what is unknown; pass or fail."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from forwardbook.guard.change import ClassChange
from forwardbook.guard.kept import Kept
from forwardbook.schema import PROVED

SHOWN: Final = 20
"""Classes that are as they were whose totals are told; of the others only how many they are."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """A class whose cost cannot be told, and why."""

    key: str
    full_class_name: str
    reason: str
    file: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Findings:
    """`sides` name the two states; `looked_at` is how many classes were compared."""

    sides: tuple[str, str]
    changes: tuple[ClassChange, ...] = ()
    troubles: tuple[Trouble, ...] = ()
    budgets: tuple[Kept, ...] = ()
    tolerance: Fraction = Fraction(0)
    looked_at: int = 0
    derived: int = 0
    """How many of them were derived and proved for this comparison; the others are as they were stored."""
    only: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    """Classes that only one side has."""
    unchanged: tuple[ClassChange, ...] = ()
    """Of the classes that are as they were the first, with their totals."""

    @property
    def changed(self) -> tuple[ClassChange, ...]:
        """The classes of which anything is another."""
        return tuple(change for change in self.changes if change.is_changed)

    @property
    def beyond(self) -> tuple[ClassChange, ...]:
        """The classes whose cost grew by more than the tolerance, or cannot be told any more."""
        return tuple(change for change in self.changes if change.is_beyond(self.tolerance))

    @property
    def improved(self) -> tuple[ClassChange, ...]:
        """The classes that cost less, and nowhere more than the tolerance allows."""
        return tuple(change for change in self.changes if change.is_improved(self.tolerance))

    @property
    def unchanged_count(self) -> int:
        """How many classes are as they were."""
        return self.looked_at - len(self.changed) - len(self.troubles)

    @property
    def broken(self) -> tuple[Kept, ...]:
        """The budgets that are not kept."""
        return tuple(one for one in self.budgets if not one.is_kept)

    @property
    def has_failed(self) -> bool:
        """Whether a check fails on these findings."""
        return bool(self.beyond or self.broken or self.troubles)


def summary(findings: Findings) -> str:
    """One sentence: how many of how many cost more, and less, budgets, and what is unknown."""
    number = len(findings.beyond)
    verb = "costs" if number == 1 else "cost"
    parts = [f"{number} of {_count(findings.looked_at, 'class')} {verb} more{_than(findings)}"]
    if findings.improved:
        parts.append(f"{len(findings.improved)} improved")
    if findings.budgets:
        parts.append(f"{len(findings.broken)} of {_count(len(findings.budgets), 'budget')} broken")
    if findings.troubles:
        parts.append(f"{_count(len(findings.troubles), 'class')} could not be told")
    return ", ".join(parts)


def percent(share: Fraction | None) -> str:
    """A share as a person reads it: `+12.0 %`; what grew from nothing is `new`."""
    if share is None:
        return "new"
    number = float(share * 100)
    digits = 1 if abs(number) >= 0.1 or not share else 3
    return f"{number:+,.{digits}f} %" if share else "0 %"


def shown_sizes(sizes: Mapping[str, int], after: Mapping[str, int] | None = None) -> str:
    """`batch_size=1, seq_len=2048`; of sizes that are others after, both: `hidden=1024 -> 8192`."""
    both = {name: (sizes.get(name), (after or sizes).get(name)) for name in {**sizes, **(after or {})}}
    shown = {name: dict.fromkeys(str(one) for one in pair if one is not None) for name, pair in both.items()}
    return ", ".join(f"{name}={' -> '.join(values)}" for name, values in sorted(shown.items()))


def state_of(change: ClassChange, tolerance: Fraction) -> str:
    """One word for a class: costs more, improved, changed, unchanged."""
    if change.is_beyond(tolerance):
        return "costs more" if change.verdicts[1] in PROVED else "cannot be told"
    if change.is_improved(tolerance):
        return "improved"
    return "changed" if change.is_changed else "unchanged"


def _than(findings: Findings) -> str:
    return f" by more than {percent(findings.tolerance).lstrip('+')}" if findings.tolerance else ""


def _count(number: int, noun: str) -> str:
    plural = f"{noun}es" if noun.endswith("s") else f"{noun}s"
    return f"{number} {noun if number == 1 else plural}"

"""Decides the verdict of every stored entry from its facts, and says which would be another.

    python -m benchmarks.verdicts_of_database [--database module_db.json] [--write]

Prints how many entries and regimes change, from which verdict to which and why. With --write, entries that
change are saved with the new verdict and its reason; no other entry is touched.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchmarks.known_faults import by_reason, with_faults

from forwardbook.schema import Entry
from forwardbook.verdicts import WORSE, judged
from forwardbook.workspace import Workspace
from forwardbook.workspace.database_file import database_in

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = 3


def changed_entries(path: Path) -> Iterator[tuple[str, Entry, Entry]]:
    """The key of each entry whose verdict changes, as it is and as it would be; copies come last."""
    database = database_in(path)
    named = by_reason(database)
    found: dict[str, Entry] = {}
    copies: list[str] = []
    for key in database:
        entry = database[key]
        if entry.same_as is not None:
            copies.append(key)
            continue
        told = judged(with_faults(entry, database.rules_version, named))
        if verdicts(told) != verdicts(entry):
            found[key] = told
            yield key, entry, told
    for key in copies:
        entry = database[key]
        holder = found.get(database.resolved(key)[0])
        if holder is None or is_as_bad(entry, holder):
            continue
        said = {"verdict": holder.validation.verdict, "reason": holder.validation.reason}
        yield key, entry, entry.model_copy(update={"validation": entry.validation.model_copy(update=said)})


def verdicts(entry: Entry) -> tuple[str, ...]:
    """That of the entry, and those of its regimes."""
    return (entry.validation.verdict, *(one.proof.verdict if one.proof else "" for one in entry.regimes))


def is_as_bad(entry: Entry, holder: Entry) -> bool:
    """Whether a copy says no better of itself than its holder does."""
    return WORSE.index(entry.validation.verdict) >= WORSE.index(holder.validation.verdict)


def kind(reason: str) -> str:
    """A reason without names and numbers, so that like reasons meet."""
    return re.sub(r"`[^`]*`|\{[^}]*\}|\d[\d,]*|^[^:]*: ", "...", reason)[:70]


def main() -> None:
    """Read, count, print; save what changes if that is wanted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--database", type=Path, default=ROOT / "module_db.json")
    parser.add_argument("--write", action="store_true", help="save entries with their new verdicts")
    given = parser.parse_args()
    entries, regimes = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    reasons: dict[tuple[str, str], list[str]] = {}
    changed: dict[str, Entry] = {}
    for key, before, after in changed_entries(given.database):
        changed[key] = after
        was, now = verdicts(before), verdicts(after)
        if was[0] != now[0]:
            entries[was[0], now[0]] += 1
            reasons.setdefault((now[0], kind(after.validation.reason)), []).append(key)
        regimes.update((a, b) for a, b in zip(was[1:], now[1:], strict=True) if a != b)
    for title, counts in (("entries", entries), ("regimes", regimes)):
        told = (f"{number:,} {a} -> {b}" for (a, b), number in counts.most_common())
        print(f"{sum(counts.values()):,} {title} change: {', '.join(told) or 'none'}")
    for (verdict, why), keys in sorted(reasons.items(), key=lambda one: -len(one[1])):
        print(f"{len(keys):>6,}  {verdict:<8}  {why}  ({', '.join(keys[:EXAMPLES])})")
    if given.write and changed:
        Workspace(given.database.resolve().parent).save(changed)
        print(f"saved {len(changed):,} entries")


if __name__ == "__main__":
    main()

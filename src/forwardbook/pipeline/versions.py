"""A library in, the versions out that a formula of it depends on, without importing anything."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version

from forwardbook.analyzers.ops import RULES_VERSION
from forwardbook.analyzers.ops.changes import are_current
from forwardbook.schema import Entry


def current_versions(library: str) -> dict[str, str]:
    """Of Python, torch, the library if it is a distribution, and our cost rules."""
    names = dict.fromkeys(("python", "torch", library, "rules"))
    found = ((name, _version(name)) for name in names)
    return {name: text for name, text in found if text}


def differing(
    recorded: Mapping[str, str], rules: str, operations: Collection[str] | None = None
) -> list[str]:
    """What is another version now; `rules` stands in for an entry that names no version of the rules.

    Other rules count only where one of the operations costs another amount by them; by default any may.
    """
    recorded = {"rules": rules} | dict(recorded)
    return [name for name, text in recorded.items() if text and not _is_current(name, text, operations)]


def of_one_state(entry: Entry, other: Entry) -> bool:
    """Whether two entries are of the same versions, of rules those that cost their operations alike."""
    versions, others = dict(entry.versions), dict(other.versions)
    rules = [one.pop("rules", "") for one in (versions, others)]
    if versions != others or rules[0] == rules[1]:
        return versions == others
    operations = entry.operations | other.operations
    return all(are_current(version, RULES_VERSION, operations) for version in rules)


def _is_current(name: str, recorded: str, operations: Collection[str] | None) -> bool:
    if name == "rules":
        return are_current(recorded, RULES_VERSION, operations)
    return _same(recorded, _version(name))


def _version(name: str) -> str:
    if name == "python":
        return f"{sys.version_info.major}.{sys.version_info.minor}"
    if name == "rules":
        return RULES_VERSION
    return _installed(name, tuple(sys.path))


@lru_cache(maxsize=256)
def _installed(name: str, path: tuple[str, ...]) -> str:
    """The version of a distribution that is found on a path; reading it takes longer than all else here."""
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _same(recorded: str, now: str) -> bool:
    """Equal, a build label (`2.13.0+cpu`) and the patch level of Python apart."""
    recorded, now = recorded.partition("+")[0], now.partition("+")[0]
    return recorded == now or recorded.startswith(f"{now}.")

"""What an expression can stand for: modules, classes, instances, functions, containers; as small values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, Literal, NamedTuple

Certainty = Literal["exact", "possible", "registry"]
LIMIT: Final = 64  # more alternatives than this say nothing


class Place(NamedTuple):
    """A definition of the repository: its file and its name within the file (empty: the module itself)."""

    path: str
    qualname: str

    @property
    def name(self) -> str:
        """The last part of the name."""
        return self.qualname.rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class ModuleValue:
    """A module or package of the repository; `path` is empty for a package without an `__init__` file."""

    dotted: str
    path: str


@dataclass(frozen=True, slots=True)
class ClassValue:
    """A class of the repository; not `exact` where it may be any of its subclasses."""

    place: Place
    exact: bool = True


@dataclass(frozen=True, slots=True)
class InstanceValue:
    """An instance of a class of the repository; not `exact` where it may be one of a subclass."""

    place: Place
    exact: bool = True


@dataclass(frozen=True, slots=True)
class FunctionValue:
    """A function or method; `receiver` is what it is bound to; `fixed` where no override can run instead."""

    place: Place
    receiver: ClassValue | InstanceValue | None = None
    fixed: bool = False


@dataclass(frozen=True, slots=True)
class SuperValue:
    """What `super()` gives in the methods of a class."""

    place: Place
    receiver: ClassValue | InstanceValue


@dataclass(frozen=True, slots=True)
class OutsideValue:
    """Something outside the repository: a name, an instance of what it names, or a member of such."""

    dotted: str
    role: Literal["name", "instance", "member"] = "name"


@dataclass(frozen=True, slots=True)
class ContainerValue:
    """A built-in container: `items` is the item of a sequence, key and item of a mapping, all of a tuple."""

    kind: Literal["sequence", "mapping", "tuple", "iterator", "pairs", "context", "awaitable"]
    dotted: str
    items: tuple[Values, ...]


Value = ModuleValue | ClassValue | InstanceValue | FunctionValue | SuperValue | OutsideValue | ContainerValue


@dataclass(frozen=True, slots=True)
class Values:
    """The alternatives that an expression may stand for; not `known` where there may be others."""

    alternatives: tuple[Value, ...] = ()
    known: bool = True
    reason: str = ""
    how: Certainty = "exact"

    def labelled(self, how: Certainty) -> Values:
        """The same alternatives, no surer than `how`."""
        least = weaker(self.how, how)
        return self if least == self.how else replace(self, how=least)


NOTHING: Final = Values()


def unknown(reason: str) -> Values:
    """No alternative is known, for a reason."""
    return Values((), False, reason)


def one(value: Value, how: Certainty = "exact") -> Values:
    """The one value that an expression stands for."""
    return Values((value,), how=how)


def weaker(left: Certainty, right: Certainty) -> Certainty:
    """The less certain of two."""
    if "possible" in (left, right):
        return "possible"
    return "registry" if "registry" in (left, right) else "exact"


def union(parts: Iterable[Values]) -> Values:
    """All alternatives of several; unknown parts make the whole incomplete."""
    parts = [part for part in parts if part is not NOTHING]
    if len(parts) < 2:
        return parts[0] if parts else NOTHING
    found: dict[Value, None] = {}
    known, reason = True, ""
    how: Certainty = "exact"
    for part in parts:
        for value in part.alternatives:
            found.setdefault(value)
        how = weaker(how, part.how)
        known = known and part.known
        reason = reason or part.reason
    if len(found) > LIMIT:
        return unknown(f"it may be any of {len(found)} things")
    exact = {
        type(value)(value.place)
        for value in found
        if isinstance(value, ClassValue | InstanceValue) and not value.exact
    }
    alternatives = tuple(
        value for value in found if not (value in exact and type(value)(value.place) == value)
    )
    return Values(alternatives, known, reason, how)

"""Ways to call classes, of any number of models, in; an entry for each class, with all its ways, out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from forwardbook.entries.record import Call, Entry, Name, Regime
from forwardbook.pipeline.composed.facts import Facts
from forwardbook.pipeline.composed.signatures import DEFAULT, Named, base_of, names_of_ways
from forwardbook.verdicts import WORSE


@dataclass(frozen=True)
class Derived:
    """One way as it was derived: its entry of one signature, and what tells it from others."""

    entry: Entry
    facts: Facts


@dataclass
class Assembly:
    """Collects ways; those that are the same in every formula are one."""

    classes: dict[str, list[Derived]] = field(default_factory=dict)
    problems: dict[str, list[str]] = field(default_factory=dict)
    _places: dict[tuple[str, str], tuple[str, int]] = field(default_factory=dict)

    def add(self, ways: Mapping[str, Derived]) -> None:
        """The ways of one model by their keys there."""
        done: dict[str, tuple[str, int] | None] = {}
        for key in ways:
            self._add(key, ways, done)

    def _add(
        self, key: str, ways: Mapping[str, Derived], done: dict[str, tuple[str, int] | None]
    ) -> tuple[str, int] | None:
        """The class of a way and its number among those of the class; None where it has no formulas."""
        if key in done:
            return done[key]
        way, done[key] = ways[key], None
        if way.entry.verdict == "unproved":
            known = self.problems.setdefault(way.entry.full_class_name, [])
            if way.entry.reason not in known:
                known.append(way.entry.reason)
            return None
        places = {
            call.entry: self._add(call.entry, ways, done) for one in way.entry.regimes for call in one.calls
        }
        regimes = tuple(_with_calls(one, places) for one in way.entry.regimes)
        full = way.entry.full_class_name
        bare = {
            "regimes": tuple(_without_proof(one) for one in regimes),
            "names": tuple(_without_words(one) for one in way.entry.names),
        }
        place = (full, way.entry.model_copy(update=bare).model_dump_json())
        if place not in self._places:
            known_ways = self.classes.setdefault(full, [])
            self._places[place] = full, len(known_ways)
            known_ways.append(Derived(way.entry.model_copy(update={"regimes": regimes}), way.facts))
        done[key] = self._places[place]
        return done[key]

    def entries(self) -> dict[str, Entry]:
        """The entries by key."""
        keys = _keys(sorted({*self.classes, *self.problems}), self)
        signatures = {
            full: names_of_ways([one.facts for one in several], [_shapes(one.entry) for one in several])
            for full, several in self.classes.items()
        }
        return {
            keys[full]: _entry(several, signatures[full], keys, signatures, self.problems.get(full, []))
            for full, several in self.classes.items()
        }


def _keys(names: Iterable[str], assembly: Assembly) -> dict[str, str]:
    """`library_Class` for each class; where several have that, with the path between."""
    found: dict[str, str] = {}
    for full in names:
        module, _, name = full.rpartition(".")
        library = module.partition(".")[0]
        key = f"{library}_{name}"
        if key in found.values():
            key = f"{library}_{module.removeprefix(library).strip('.').replace('.', '_')}_{name}"
        found[full] = key
    return found


def _with_calls(regime: Regime, places: Mapping[str, tuple[str, int] | None]) -> Regime:
    """A regime whose calls say class and number: `package.Class~2`."""
    calls = []
    for call in regime.calls:
        place = places[call.entry]
        assert place is not None, call.entry
        calls.append(call.model_copy(update={"entry": f"{place[0]}~{place[1]}"}))
    return regime.model_copy(update={"calls": tuple(calls)})


def _without_proof(regime: Regime) -> Regime:
    return regime.model_copy(update={"proof": regime.proof.model_copy(update={"points": ()})})


Signatures = Mapping[str, list[Named]]


def _entry(
    several: list[Derived],
    named: list[Named],
    keys: Mapping[str, str],
    signatures: Signatures,
    problems: list[str],
) -> Entry:
    first = base_of([one.facts for one in several])
    regimes = []
    for place in (first, *(place for place in range(len(several)) if place != first)):
        signature, choices = named[place]
        for one in several[place].entry.regimes:
            changes = {
                "name": _of_signature(signature, one.name),
                "signature": signature,
                "choices": choices,
                "calls": tuple(_call(call, keys, signatures) for call in one.calls),
            }
            regimes.append(one.model_copy(update=changes))
    reason = f"another way to call it has no formulas: {problems[0]}" if problems else ""
    changes = {
        "regimes": _distinct(regimes),
        "names": _names(several),
        "verdict": max((one.proof.verdict for one in regimes), key=WORSE.index),
        "reason": reason,
    }
    return several[0].entry.model_copy(update=changes)


def _without_words(name: Name) -> Name:
    """A name without what the config of one family says of it."""
    return name.model_copy(update={"meaning": "", "default": None})


def _shapes(entry: Entry) -> dict[str, str]:
    """The sizes of each tensor that a way is handed, as people write them."""
    return {
        one.path: " x ".join(one.shape).replace("{", "").replace("}", "")
        for regime in entry.regimes[:1]
        for one in regime.arguments
    }


def _of_signature(signature: str, name: str) -> str:
    """A regime's name, with what tells its signature from the default one before it."""
    return name if signature == DEFAULT else f"{signature}; {name}".removesuffix(f"; {DEFAULT}")


def _distinct(regimes: list[Regime]) -> tuple[Regime, ...]:
    """Regimes with names that are all different."""
    taken: dict[str, int] = {}
    found = []
    for one in regimes:
        number = taken[one.name] = taken.get(one.name, 0) + 1
        found.append(one if number == 1 else one.model_copy(update={"name": f"{one.name}, {number}"}))
    return tuple(found)


def _call(call: Call, keys: Mapping[str, str], signatures: Signatures) -> Call:
    full, _, number = call.entry.rpartition("~")
    return call.model_copy(update={"entry": keys[full], "signature": signatures[full][int(number)].name})


def _names(several: list[Derived]) -> tuple[Name, ...]:
    found: dict[str, Name] = {}
    for way in several:
        for one in way.entry.names:
            known = found.setdefault(one.name, one)
            if known.default is None and not known.meaning:
                found[one.name] = one
    return tuple(found[name] for name in sorted(found))

"""Holds the drafts of a class against runs, and derives a further one wherever a run says otherwise."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from forwardbook.formula import Condition
from forwardbook.pipeline.composed.drafts import Drafts, fixed_by, pins
from forwardbook.pipeline.composed.measured import NO_REGIME, Measurement
from forwardbook.pipeline.composed.nearby import breaking, is_vast
from forwardbook.pipeline.composed.records import FULL, Draft, symbols_of

POINTS: Final = 3
REDRAWS: Final = 6
REGIMES: Final = 8
"""Drafts of one way of calling a class: with more it is no formula for a person, and conditions stay."""
FEW: Final = 16
"""Widths are usually larger, heads, groups, kernels and strides are not."""
BREAKS: Final = 2
"""Runs that break a condition, and one farther off: where these cost what is expected it changes nothing."""
CLOSE: Final = 12
"""Among so many sizes that break it the last is the one farther off."""
LAST: Final = 4
"""Points at the end that may be anywhere."""
TOGETHER: Final = 3
"""Names that are looked at in all combinations."""


class Unproved(Exception):
    """Formulas and runs differ, and no further draft mends it."""


class Refused(Unproved):
    """The class refuses sizes that no condition forbids: two of its names may be one."""


@dataclass
class Trial(Drafts):
    """The drafts of one way to call a class, from the first point to the last."""

    def run(self) -> None:
        """Proves the first draft, derives and proves all others.

        Raises:
            Unproved: where that fails.
            Exception: whatever the class raises at its own sizes.
        """
        self._hold_general()
        self._weigh(self.drafts[0], divide=False)
        self._look_at_ones()
        for draft in list(self.drafts):
            self._weigh(draft, divide=True)
        self._look_anywhere()

    def _hold_general(self) -> None:
        """The first draft at some points where it must hold, below float32 and in it."""
        [draft] = self.drafts
        met, problem = 0, "no sizes were found that satisfy its conditions"
        for attempt in range(POINTS + REDRAWS):
            full = met == POINTS
            sizes = self.draw(draft.conditions, {}, 2, farther=attempt % 2 == 1)
            real = self.measure(sizes, full) if sizes is not None else None
            if real is None:
                problem = problem if sizes is None else "the class refuses sizes that satisfy its conditions"
                continue
            said = self.differs(real)
            if said and full:
                self._branch(frozenset({FULL}), real)
            elif said:
                raise Unproved(said)
            met += 1
            if full:
                return
        if met < POINTS:
            raise Refused(problem)

    def _branch(self, region: frozenset[str], real: Measurement) -> None:
        """A draft for a region where a run says otherwise."""
        if len(self.drafts) >= REGIMES:
            self.put([one.next_to(region) for one in self.drafts])
            return
        settled = self.at(region)
        conditions = tuple(one for one in self.asked(settled) if one not in self._dropped(region))
        if len(_met(conditions, real)) < len(conditions):
            again = self.tried(conditions, fixed_by(region), FULL in region)
            if again is None or not self.differs(again):
                return
            real = again
        below = [one for one in self.drafts if one.region <= region]
        base = next(
            (one for one in below if len(_met(one.conditions, real)) == len(one.conditions)), below[-1]
        )
        kept, said = list(self.drafts), ""
        for one in self.candidates(settled, base, region):
            new = Draft(one, region, conditions, settled.assumptions, mark=self._version)
            self.put([old.next_to(region) for old in kept] + [new])
            said = self.differs(real)
            if not said:
                self._weigh(new, divide=False)
                return
        self.put(kept)
        if said == NO_REGIME:  # a callee has none there: no answer, and no wrong one
            return
        raise Unproved(f"in the region {', '.join(sorted(region))}: {said}")

    def _dropped(self, region: frozenset[str]) -> set[Condition]:
        """Conditions that change nothing, as they are asked in a region."""
        return self.idle | {one.subs(fixed_by(region)) for one in self.idle}

    def _weigh(self, draft: Draft, *, divide: bool) -> None:
        """Drops conditions that change nothing: a run that breaks one costs what the draft says.

        Where one changes something there is a draft for the other side as well, if they shall `divide`.
        """
        for condition in sorted(draft.conditions, key=lambda one: -len(one.text())):
            now = self.now(draft)
            rest = [one for one in now.conditions if one != condition]
            met = is_vast(condition) or self._broken(condition, rest, now)
            if met is True and self._is_demanded(condition, now):
                self.demanded.add(condition)
            if not met:
                self.idle.add(condition)
                self.instead(now, now.without(condition))
            elif divide and isinstance(met, Measurement) and not pins(condition):
                self._divide(now, condition, met)

    def _broken(self, condition: Condition, rest: Sequence[Condition], draft: Draft) -> Measurement | bool:
        """A run that breaks a condition and costs something else; False: none does, True: none is allowed."""
        kept = list(self.drafts)
        near = breaking(condition, rest, {**self.hints, **draft.at}, fixed_by(draft.region), self.rng)
        first = list(itertools.islice(near, CLOSE))
        ones = fixed_by(draft.region).keys()  # where others are 1 is looked at apart
        farther = [one for one in first[BREAKS:] if all(n in ones or one[n] > 1 for n in self.hints)]
        for sizes in [*first[:BREAKS], *farther[-1:]]:
            real = self.measure(sizes, FULL in draft.region)
            if real is None:
                return True
            self.instead(draft, draft.without(condition))
            points = len(self.points)
            said = self.differs(real)
            del self.points[points:]
            self.put(kept)
            if said:
                return real
        return False

    def _is_demanded(self, condition: Condition, draft: Draft) -> bool:
        """Whether the class itself refuses what it takes with a size other than the one that it is pinned to.

        Of counts and widths that is not asked: what a config says of each layer may not fit another number.
        """
        sources = self.settled.local.names.sources
        if not pins(condition) or any(sources.get(name) != "forward" for name in condition.symbols()):
            return False
        near = breaking(condition, (), {**self.hints, **draft.at}, fixed_by(draft.region), self.rng)
        larger = (one for one in near if all(one[name] > 1 for name in condition.symbols()))
        return all(self.measure(one, FULL in draft.region) is None for one in itertools.islice(larger, CLOSE))

    def _divide(self, draft: Draft, condition: Condition, real: Measurement) -> None:
        """A further draft where a condition is broken, if what breaks it costs something else."""
        if not self.differs(real) or len(self.drafts) >= REGIMES:
            return
        names = self.hints
        at = {name: real.sizes[name] for name in names if name not in draft.region}
        at = {name: size for name, size in at.items() if name not in self.counts}
        settled = self.at(draft.region, at)
        asked = tuple(one for one in self.asked(settled) if one not in self._dropped(draft.region))
        kept, place = list(self.drafts), self.drafts.index(draft)
        for one in self.candidates(settled, draft, draft.region, at):
            new = Draft(one, draft.region, asked, settled.assumptions, draft.beside, self._version, at)
            self.put([*kept[:place], new, *kept[place:]])
            if not self.differs(real):
                self._leave_ones(new)
                self._weigh(new, divide=True)
                return
        self.put(kept)  # what breaks it takes more than one way: it stays a condition

    def _leave_ones(self, draft: Draft) -> None:
        """Where a name is 1 and that matters, the side of a condition is no draft for it."""
        few = [name for name in self._few() if name not in draft.region | draft.beside]
        for region in map(frozenset, [*([name] for name in few), *itertools.combinations(few, 2)]):
            now = self.now(draft)
            if not region.isdisjoint(now.beside):
                continue
            real = self.tried(now.all_conditions(), fixed_by(region | draft.region), FULL in draft.region)
            if real is not None and (said := self.differs(real)) and said != NO_REGIME:
                self.instead(now, replace(now, beside=now.beside | region))

    def _look_at_ones(self) -> None:
        """Where a name, or several, are 1. Widths are 1 for nobody: where that matters they are left out."""
        known = symbols_of(self.drafts[-1])
        pinned = [one for one in self.drafts[-1].conditions if pins(one) and one not in self.demanded]
        held = {name for one in pinned for name in one.symbols()}
        used = [n for n, hint in self.hints.items() if n in known - held and hint > 1]
        sources, few = self.settled.local.names.sources, set(self._few())
        matter = {name for name in used if sources.get(name) == "forward"}
        for name in used:
            if name not in few:
                self._leave_out(name)
            elif self._look_at(frozenset({name})):
                matter.add(name)
        for region in self._together(matter, few.intersection(used)):
            self._look_at(region)

    def _together(self, matter: Collection[str], few: Collection[str]) -> Iterator[frozenset[str]]:
        """The names to look at together: up to three that matter, all of them, and those of a product."""
        several = sorted(matter)
        for count in range(2, TOGETHER + 1):
            yield from map(frozenset, itertools.combinations(several, count))
        if len(several) > TOGETHER:
            yield frozenset(several)
        for made in self.settled.local.definitions.values():
            if len(made.symbols()) > 1 and made.symbols() <= set(few) and not made.symbols() <= set(matter):
                yield made.symbols()

    def _leave_out(self, name: str) -> None:
        """Says that a name is 2 at least, if the class costs something else where it is 1."""
        real = self.tried((), {name: 1}, full=False)
        if real is not None and self.differs(real):
            names = [
                one.model_copy(update={"least": 2}) if one.name == name else one for one in self.entry.names
            ]
            self.entry = self.entry.model_copy(update={"names": tuple(names)})
            self.put(self.drafts)

    def _look_at(self, region: frozenset[str]) -> bool:
        """Whether a region has a draft of its own now; one is derived where a run says so."""
        fixed = fixed_by(region)
        found = False
        for full in (False, True):
            conditions = self.drafts[-1].conditions
            sizes = self.draw(conditions, fixed, 2) or self.draw((), fixed, 2)
            real = self.measure(sizes, full) if sizes is not None else None
            said = "" if real is None else self.differs(real)
            if real is None or not said or (said == NO_REGIME and self._is_met(real)):
                continue  # where a callee has no regime, one of the caller's would not help
            wide = any(FULL in one.region for one in self.drafts)
            self._branch(region | ({FULL} if full and wide else frozenset()), real)
            found = True
        return found

    def _is_met(self, real: Measurement) -> bool:
        """Whether a draft demands nothing that the sizes of a run do not meet."""
        return any(all(one.is_met(real.sizes) for one in draft.all_conditions()) for draft in self.drafts)

    def _few(self) -> list[str]:
        """The names that somebody sets to 1, of those that are larger here."""
        sources = self.settled.local.names.sources
        larger = [(name, hint) for name, hint in self.hints.items() if hint > 1 and name not in self.counts]
        return [name for name, hint in larger if hint <= FEW or sources.get(name) == "forward"]

    def _look_anywhere(self) -> None:
        """Points of which nothing is asked: some sizes are 1, conditions may be broken.

        Where such a run costs something else the names that must be 1 for that are looked at, and all again.
        """
        for _ in range(LAST):
            found = next(filter(None, map(self._contradiction, range(LAST))), None)
            if found is None:
                return
            real, said, full = found
            region = self._ones_that_matter(real, full)
            if not region or not self._look_at(region) or self.differs(real):
                raise Unproved(f"at {dict(sorted(real.sizes.items()))}: {said}")
        raise Unproved("runs with several sizes of 1 cost something else each")

    def _contradiction(self, number: int) -> tuple[Measurement, str, bool] | None:
        """A run anywhere that costs something else, what that is, and whether it was in float32."""
        fixed = {name: 1 for name in self._few() if self.rng.random() < 0.2}
        full = number % 2 == 1
        real = self.tried((), fixed, full)
        said = self.differs(real) if real is not None else ""
        return (real, said, full) if real is not None and said and said != NO_REGIME else None

    def _ones_that_matter(self, real: Measurement, full: bool) -> frozenset[str]:
        """The names that must be 1 for a run to cost something else."""
        ones = {name for name in self._few() if real.sizes[name] == 1}
        for name in sorted(ones):
            larger = {one: 1 if one in ones - {name} else real.sizes[one] for one in self.hints}
            again = self.measure({**larger, name: self.hints[name]}, full)
            if again is not None and self.differs(again):
                ones -= {name}
        return frozenset(ones)


def _met(conditions: Sequence[Condition], real: Measurement) -> list[Condition]:
    """Those conditions that the sizes of a run meet."""
    return [one for one in conditions if one.is_met(real.sizes)]

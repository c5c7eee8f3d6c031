"""One call pattern of a class, proved; and which of its sizes became numbers on the way."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import torch

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.symbolic.assume import Assumed
from forwardbook.analyzers.symbolic.patterns import Pattern
from forwardbook.analyzers.symbolic.run import SizeNote
from forwardbook.analyzers.symbolic.summary import Summary
from forwardbook.formula import Condition
from forwardbook.profiling.proof import PatternProof


@dataclass(frozen=True)
class Derived:
    """One pattern of one recipe in one dtype, proved; `notes` describe its sizes."""

    recipe: Recipe
    dtype: torch.dtype
    pattern: Pattern
    proof: PatternProof
    notes: Mapping[str, SizeNote]
    target: str
    interpolated: tuple[str, ...] = ()
    seen: Summary | None = None
    """The quantities as the run gave them, not rewritten under any condition."""

    @property
    def exact(self) -> bool:
        """Proved at every point, with a rule for every operation and no size that never varied."""
        return self.proof.exact and not self.pattern.unruled and not self.unvaried

    @property
    def unvaried(self) -> tuple[str, ...]:
        """Sizes of the formulas that had one value at all points, though no condition says which."""
        names = self.pattern.summary.symbols()
        equalities = (c for c in self.pattern.conditions if c.op == "==" and len(c.symbols()) == 1)
        said = {name for c in equalities for name in c.symbols()}
        points = [p.sizes for p in self.proof.points]
        still = (n for n in names - said if n in self.notes and self.notes[n].hint > 1)
        return tuple(sorted(n for n in still if len({p[n] for p in points if n in p}) < 2))


def with_counts_said(one: Derived) -> Derived:
    """The regime, with a condition for each size that became a number and had one value at all its points.

    Formulas may hang on such a size without naming it: nothing is known of them at another value, and where
    others needed it before the call, shapes may hang on it. The same is said of sizes that they name, unless
    most are so: where most never change, a formula says nothing of them. What the caller chooses is always
    said: others in the same proof may have kept it, and a number stands for it. And so is what hangs on
    sizes, became a number and was the same at all points where these were not.
    """
    numbers = {name: note.hint for name, note in one.notes.items()}
    counted = (_consumed(one, numbers) | (one.pattern.before & numbers.keys())) - set(one.interpolated)
    unvaried = one.unvaried
    if 2 * len(unvaried) <= len(one.pattern.summary.symbols() & numbers.keys()):
        counted |= set(unvaried)
    chosen = {n for n, note in one.notes.items() if not note.source.startswith(("config", "constructor"))}
    counted |= {name for name in chosen - set(unvaried) if numbers[name] > 1}
    seen = {name: {p.sizes[name] for p in one.proof.points if name in p.sizes} for name in sorted(counted)}
    same = {name: next(iter(values)) for name, values in seen.items() if len(values) == 1}
    known = {c.text() for c in one.pattern.conditions}
    said = [Condition.that_is(name, value) for name, value in same.items()]
    said += _never_another(one, same.keys())
    more = tuple(c for c in said if c.text() not in known)
    return replace(one, pattern=replace(one.pattern, conditions=(*one.pattern.conditions, *more)))


def _never_another(one: Derived, same: Collection[str]) -> Iterator[Condition]:
    """Of what became numbers that which was the same at every point, though sizes it hangs on were not."""
    points = [p.sizes for p in one.proof.points]
    for number in one.pattern.numbers:
        varied = number.symbols() - set(same)
        if points and varied - set(one.interpolated) and all(number.is_met(sizes) for sizes in points):
            yield number


def under(pattern: Pattern, recipe: Recipe, held: Sequence[Condition]) -> Pattern:
    """The pattern as its conditions, the recipe's and `held` leave it; `held` stay among its conditions."""
    stated = [Condition.parse(text) for text in recipe.conditions]
    conditions = (*pattern.conditions, *held)
    found = Assumed([*stated, *conditions]).pattern(replace(pattern, conditions=conditions))
    return replace(found, conditions=tuple(dict.fromkeys((*found.conditions, *held))))


def _consumed(one: Derived, numbers: Mapping[str, int]) -> set[str]:
    return {name for c in one.pattern.consumed for name in c.symbols if name in numbers}


def pins(conditions: Sequence[Condition], name: str, numbers: Mapping[str, int]) -> bool:
    """Whether the conditions on a size alone hold at no other value near it, nor at its double."""
    about = [c for c in conditions if c.symbols() == {name}]
    now = numbers[name]
    others = {now - 2, now - 1, now + 1, now + 2, 2 * now, 4 * now} - {now, 0}  # 2 n, 4 n: still divisible
    return bool(about) and all(any(not c.is_met({name: value}) for c in about) for value in others)


def held_by_caller(one: Derived, numbers: Mapping[str, int]) -> tuple[str, ...]:
    """The sizes of inputs that a loop over what is given holds, as a batch that is gone through by images.

    A formula may be exact and yet speak of that batch alone.
    """
    chosen = {n for n, note in one.notes.items() if note.source == "forward" and numbers[n] > 1}
    asked = _consumed(one, numbers) | one.pattern.before
    points = [p.sizes for p in one.proof.points]
    return tuple(n for n in sorted(chosen & asked) if len({p[n] for p in points if n in p}) == 1)


def loop_names(one: Derived, numbers: Mapping[str, int]) -> tuple[str, ...]:
    """The sizes to interpolate over: consumed as numbers, or fixed by what Python compared.

    A size that was the same wherever formulas failed is not why they did.
    """
    consumed = _consumed(one, numbers)
    pinned = {name for name in numbers if pins(one.pattern.conditions, name, numbers)}
    names = (consumed | pinned) if not one.exact else (consumed & pinned)
    failed = [point.sizes for point in one.proof.points if point.differences]
    to_blame = {name for name in names if any(sizes.get(name) != numbers[name] for sizes in failed)}
    if to_blame or one.exact or not failed:
        return tuple(sorted(to_blame or names))
    # a factor that float() was asked of scales values mostly, and sizes only where nothing else is to blame;
    # the same of what others needed as numbers before the call
    factors = {name for c in one.pattern.floated for name in c.symbols}
    for further in (factors, one.pattern.before):
        guilty = {n for n in further & numbers.keys() if all(s.get(n) != numbers[n] for s in failed)}
        if guilty:
            return tuple(sorted(guilty))
    return tuple(sorted(names))

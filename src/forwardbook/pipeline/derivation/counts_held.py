"""Regimes in; out those that fail because a size became a number, proved again with that size as it was."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from forwardbook.formula import Condition
from forwardbook.pipeline.derivation.derived import Derived, loop_names, under, with_counts_said
from forwardbook.profiling.proof import prove

Names = tuple[str, ...]

SINGLE = 4  # of so many suspects each is tried alone: what is held for nothing says less than is known


def with_counts_held(derived: Sequence[Derived], seed: int, points: int) -> list[Derived]:
    """The same; what is exact at the counts that ran, and says so in its conditions, in place of what failed.

    No more than half of the sizes may be held: a formula in which most never change says nothing of them.
    All must stem from one run: those in which the same counts are held are proved together.
    """
    found = list(derived)
    numbers = {name: note.hint for one in derived[:1] for name, note in one.notes.items()}
    failed = {i: one for i, one in enumerate(derived) if not one.exact and not one.pattern.unruled}
    suspects = {
        i: [names for names in _guilty(one, numbers) if 2 * len(names) <= len(numbers)]
        for i, one in failed.items()
    }
    held: dict[int, Names] = {}
    for names, members in _by_turns(suspects, held):
        for i, again in _with_held(derived, members, names, numbers, seed, points).items():
            if again.exact:
                found[i], held[i] = again, names
            else:
                suspects[i] += [more for more in _further(again, names, numbers) if more not in suspects[i]]
    for name in sorted({name for names in held.values() if len(names) <= SINGLE for name in names}):
        groups: dict[Names, list[int]] = {}
        for i, names in held.items():
            if name in names and 1 < len(names) <= SINGLE:
                groups.setdefault(tuple(n for n in names if n != name), []).append(i)
        for fewer, members in groups.items():
            for i, again in _with_held(derived, members, fewer, numbers, seed, points).items():
                if again.exact:
                    found[i], held[i] = again, fewer
    return found


def _by_turns(
    suspects: Mapping[int, Sequence[Names]], held: Mapping[int, Names]
) -> Iterator[tuple[Names, list[int]]]:
    """The first suspects of all, then the second ones of those that none is `held` for yet, and so on.

    Whoever tries them may add to the suspects meanwhile.
    """
    turn = 0
    while turn < max(map(len, suspects.values()), default=0):
        groups: dict[Names, list[int]] = {}
        for i, names in suspects.items():
            if turn < len(names) and i not in held:
                groups.setdefault(names[turn], []).append(i)
        yield from groups.items()
        turn += 1


def _with_held(
    derived: Sequence[Derived],
    members: Sequence[int],
    names: Names,
    numbers: Mapping[str, int],
    seed: int,
    points: int,
) -> dict[int, Derived]:
    """The members with these counts as they were, proved together; each alone where no sizes suit all."""
    held = tuple(Condition.that_is(name, numbers[name]) for name in names)
    patterns = [under(derived[i].pattern, derived[i].recipe, held) for i in members]
    first = derived[members[0]]
    proofs = prove(first.recipe, patterns, numbers, first.dtype, seed, points, held)
    if len(members) > 1 and not any(proof.points for proof in proofs):
        each = (_with_held(derived, [i], names, numbers, seed, points) for i in members)
        return {i: one for found in each for i, one in found.items()}
    made = zip(members, patterns, proofs, strict=True)
    return {
        i: with_counts_said(replace(derived[i], pattern=pattern, proof=proof, interpolated=()))
        for i, pattern, proof in made
    }


def _further(again: Derived, names: Names, numbers: Mapping[str, int]) -> list[Names]:
    """What is held and fails, with those beside it that had another value now wherever it failed.

    Where it was proved beside others, their conditions may have kept such a size as it was.
    """
    joined = (tuple(sorted({*names, *more})) for more in _guilty(again, numbers)[-1:])
    return [more for more in joined if 2 * len(more) <= len(numbers) and len(more) > len(names)]


def _guilty(one: Derived, numbers: Mapping[str, int]) -> list[Names]:
    """Of the sizes that became numbers, those that had another value wherever the formulas failed.

    A single one may be to blame, or several; or all that had another value anywhere, now the one and now the
    other.
    """
    failed = [point.sizes for point in one.proof.points if point.differences]
    names = loop_names(one, numbers)
    always = tuple(name for name in names if all(sizes.get(name) != numbers[name] for sizes in failed))
    ever = tuple(name for name in names if any(sizes.get(name) != numbers[name] for sizes in failed))
    alone = [(name,) for name in always] if len(always) <= SINGLE else []
    return [names for names in dict.fromkeys((*alone, always, ever)) if names]

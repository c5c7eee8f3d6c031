"""The regimes of two states of a class in; out which belong together: those that hold in the same call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from forwardbook.guard.sizes import Sizes, reference_sizes, sizes_of, stated_numbers, usual_regimes
from forwardbook.schema import Entry, Regime


@dataclass(frozen=True, slots=True)
class State:
    """One side of a comparison: an entry, and the sizes that it is asked for."""

    entry: Entry
    wanted: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Together:
    """Two regimes and the sizes of one call in either; a side is None where no regime holds in that call."""

    was: Regime | None
    now: Regime | None
    sizes: Sizes | None = None
    now_sizes: Mapping[str, int] | None = None


def together(before: State, after: State, free: frozenset[str]) -> Iterator[Together]:
    """Each regime before with the one that holds after in its reference call, then those that are new.

    `free` names sizes that the same call may have differently on either side: what has another default.
    """
    found: list[Together] = []
    for was in before.entry.regimes:
        found.append(_after(was, before, after, free))
        yield found[-1]
    paired = [one.now for one in found]
    for now in after.entry.regimes:
        if not any(now is one for one in paired):
            yield _before(now, before, after, free)


def _after(was: Regime, before: State, after: State, free: frozenset[str]) -> Together:
    """What holds after in the reference call of a regime, else at any of its proved points."""
    first = reference_sizes(before.entry, was, before.wanted)
    for call in (first, *(Sizes(point.sizes, "a proved point") for point in was.points)):
        if call is None or (own := sizes_of(was, call.values)) is None:
            continue
        for now in _nearest(was, before.entry, after.entry):
            if (other := _sizes(now, own, after, free)) is not None:
                return Together(was, now, Sizes(own, call.origin), other)
    return Together(was, next((now for now in after.entry.regimes if now.name == was.name), None))


def _before(now: Regime, before: State, after: State, free: frozenset[str]) -> Together:
    """What held before in the reference call of a regime after."""
    sizes = reference_sizes(after.entry, now, after.wanted)
    if sizes is not None and (own := sizes_of(now, sizes.values)) is not None:
        for was in _nearest(now, after.entry, before.entry):
            if (other := _sizes(was, own, before, free)) is not None:
                return Together(was, now, Sizes(other, sizes.origin), own)
    return Together(None, now)


def _sizes(
    regime: Regime, call: Mapping[str, int], state: State, free: frozenset[str]
) -> dict[str, int] | None:
    """The sizes of a regime in a call of the other side; None where it does not hold there."""
    first = dict(regime.points[0].sizes) if regime.points else {}
    same = {name: size for name, size in call.items() if name not in free}
    return sizes_of(regime, {**first, **stated_numbers(state.entry, state.wanted), **same})


def _nearest(one: Regime, own: Entry, others: Entry) -> list[Regime]:
    """The regimes that may be of the same call, the likeliest first; usual builds belong together."""
    found = [other for other in others.regimes if _is_alike(one, other)]
    is_usual = any(one is each for each in usual_regimes(own))
    usual = usual_regimes(others)

    def unlike(other: Regime) -> tuple[bool, ...]:
        return (
            is_usual != any(other is each for each in usual),
            other.choices != one.choices,
            other.given != one.given,
            other.name != one.name,
            other.context != one.context,
            set(other.parameters) != set(one.parameters),
        )

    return sorted(found, key=unlike)


def _is_alike(one: Regime, other: Regime) -> bool:
    return one.scenario == other.scenario or set(one.parameters) == set(other.parameters)

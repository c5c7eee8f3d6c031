"""How a cost grows with how often something is repeated: of breakdowns at some counts, one for all counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from forwardbook.analyzers.derive.breakdown import Breakdown, CallGroup
from forwardbook.analyzers.derive.own import OwnCost, OwnLine
from forwardbook.formula import Expr

STEPS = 2
"""How many further counts are run: two differences that are equal make a line."""


class NotLinear(Exception):
    """A cost does not grow by the same with each count."""


def over_counts(
    first: Breakdown, further: Mapping[str, Sequence[Breakdown]], hints: Mapping[str, int]
) -> Breakdown:
    """The breakdown with each name of `further` free: there it is at one more than its hint, and at two more.

    Raises:
        NotLinear: what is seen is no straight line.
    """
    return _Line(first, further, hints).breakdown()


def grown_like(
    found: Breakdown, like: Breakdown, hints: Mapping[str, int], fixed: Mapping[str, int]
) -> Breakdown | None:
    """What a run at these hints showed, with each amount growing with the counts as that of another does.

    None where the two have other lines, states or calls. Whether it grows so is for measured runs to say.
    """
    own, other = found.own, like.own
    same_calls = [_told(one) for one in found.calls] == [_told(one) for one in like.calls]
    same_lines = [one.key for one in own.lines] == [one.key for one in other.lines]
    if not (same_calls and same_lines and len(own.states) == len(other.states)):
        return None

    def grown(value: Expr, example: Expr) -> Expr:
        for name, hint in hints.items():
            if name in example.symbols() and name not in fixed:
                count = Expr.symbol(name)
                step = example.subs({name: count + 1}) - example
                value = value + step.subs(dict(fixed)) * (count - hint)
        return value

    def amounts(one: Mapping[str, Expr], example: Mapping[str, Expr]) -> dict[str, Expr]:
        return {name: grown(value, example[name]) for name, value in one.items()}

    lines = (
        replace(one, amounts=amounts(one.amounts, two.amounts))
        for one, two in zip(own.lines, other.lines, strict=True)
    )
    states = (grown(one, two) for one, two in zip(own.states, other.states, strict=True))
    calls = (
        replace(two, live=grown(one.live, two.live)) for one, two in zip(found.calls, like.calls, strict=True)
    )
    return Breakdown(OwnCost(amounts(own.amounts, other.amounts), tuple(states), tuple(lines)), tuple(calls))


def _told(one: CallGroup) -> object:
    return one.line, one.attribute, one.callee.key.partition("~")[0]


class _Line:
    def __init__(
        self, first: Breakdown, further: Mapping[str, Sequence[Breakdown]], hints: Mapping[str, int]
    ) -> None:
        self.first, self.further, self.hints = first, further, hints

    def breakdown(self) -> Breakdown:
        return Breakdown(self._own(), self._calls())

    def _value(self, value: Expr, of: Mapping[str, tuple[Expr, Expr]]) -> Expr:
        total = value
        for name, (one, two) in of.items():
            step = one - value
            if two - one != step:
                raise NotLinear(name)
            total = total + step * (Expr.symbol(name) - self.hints[name])
        return total

    def _own(self) -> OwnCost:
        pairs = {name: (one.own.amounts, two.own.amounts) for name, (one, two) in self.further.items()}
        amounts = self._amounts(self.first.own.amounts, pairs)
        others = {name: (one.own.states, two.own.states) for name, (one, two) in self.further.items()}
        grown = tuple(self._state(value, others) for value in self.first.own.states)
        return OwnCost(amounts, grown, self._lines())

    def _state(self, value: Expr, others: Mapping[str, tuple[tuple[Expr, ...], tuple[Expr, ...]]]) -> Expr:
        """A state of live storage among those of the other runs: the ones that it grows to."""
        found = {}
        for name, (ones, twos) in others.items():
            if len(ones) != len(self.first.own.states) != len(twos):
                raise NotLinear("states")
            steps = [(one, one + one - value) for one in ones if one + one - value in twos]
            if not steps:
                raise NotLinear("states")
            found[name] = min(steps, key=lambda step: len((step[0] - value).text()))
        return self._value(value, found)

    def _lines(self) -> tuple[OwnLine, ...]:
        keyed = {
            name: [{one.key: one for one in b.own.lines} for b in pair] for name, pair in self.further.items()
        }
        keys = [line.key for line in self.first.own.lines]
        if any(set(each) != set(keys) for pair in keyed.values() for each in pair):
            raise NotLinear("lines")
        return tuple(
            OwnLine(
                line.key,
                self._amounts(
                    line.amounts,
                    {
                        name: (one[line.key].amounts, two[line.key].amounts)
                        for name, (one, two) in keyed.items()
                    },
                ),
                line.operations,
            )
            for line in self.first.own.lines
        )

    def _amounts(
        self, amounts: Mapping[str, Expr], others: Mapping[str, tuple[Mapping[str, Expr], Mapping[str, Expr]]]
    ) -> dict[str, Expr]:
        return {
            quantity: self._value(
                value, {n: (one[quantity], two[quantity]) for n, (one, two) in others.items()}
            )
            for quantity, value in amounts.items()
        }

    def _calls(self) -> tuple[CallGroup, ...]:
        keyed = {name: [_ranked(each.calls) for each in pair] for name, pair in self.further.items()}
        first = _ranked(self.first.calls)
        if any(each.keys() != first.keys() for pair in keyed.values() for each in pair):
            raise NotLinear("calls")
        return tuple(
            self._call(call, {name: (one[place], two[place]) for name, (one, two) in keyed.items()})
            for place, call in first.items()
        )

    def _call(self, call: CallGroup, others: Mapping[str, tuple[CallGroup, CallGroup]]) -> CallGroup:
        def grown(read: Callable[[CallGroup], Expr]) -> Expr:
            return self._value(
                read(call), {name: (read(one), read(two)) for name, (one, two) in others.items()}
            )

        bindings = {
            name: grown(lambda group, name=name: group.callee.bindings[name])  # type: ignore[misc]
            for name in call.callee.bindings
        }
        callee = replace(call.callee, bindings=bindings)
        return replace(
            call, callee=callee, times=grown(lambda one: one.times), live=grown(lambda one: one.live)
        )


def _ranked(calls: Sequence[CallGroup]) -> dict[tuple[tuple[int, str, str], int], CallGroup]:
    """Calls by their place, those of one place in their order."""
    seen: Counter[tuple[int, str, str]] = Counter()
    found: dict[tuple[tuple[int, str, str], int], CallGroup] = {}
    for one in calls:
        found[one.place, seen[one.place]] = one
        seen[one.place] += 1
    return found

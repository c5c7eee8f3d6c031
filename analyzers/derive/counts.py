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
    found: Breakdown, first: Breakdown, grown: Breakdown, like: Breakdown, fixed: Mapping[str, int]
) -> Breakdown | None:
    """What a run showed, with what `grown` has more than `first` of each amount, and the calls of `like`.

    None where they have other lines, states or calls. Whether it grows so is for measured runs to say.
    """
    each = (found, first, grown, like)
    if any(_shape(one) != _shape(found) for one in each):
        return None

    def value(one: Expr, before: Expr, after: Expr) -> Expr:
        return one if after == before else one + (after - before).subs(dict(fixed))

    def amounts(
        one: OwnCost | OwnLine, before: OwnCost | OwnLine, after: OwnCost | OwnLine
    ) -> dict[str, Expr]:
        return {n: value(v, before.amounts[n], after.amounts[n]) for n, v in one.amounts.items()}

    own, before, after = found.own, first.own, grown.own
    lines = zip(own.lines, before.lines, after.lines, strict=True)
    states = zip(own.states, before.states, after.states, strict=True)
    lives = zip(found.calls, first.calls, grown.calls, like.calls, strict=True)
    return Breakdown(
        OwnCost(
            amounts(own, before, after),
            tuple(value(*one) for one in states),
            tuple(replace(one[0], amounts=amounts(*one)) for one in lines),
        ),
        tuple(replace(d, live=value(a.live, b.live, c.live)) for a, b, c, d in lives),
    )


def _shape(one: Breakdown) -> object:
    return [line.key for line in one.own.lines], len(one.own.states), [_told(call) for call in one.calls]


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

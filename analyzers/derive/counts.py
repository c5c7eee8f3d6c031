"""How a cost grows with how often something is repeated: of breakdowns at some counts, one for all counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from forwardbook.analyzers.derive.breakdown import Breakdown, CallGroup
from forwardbook.analyzers.derive.own import OwnCost, OwnLine
from forwardbook.analyzers.ops import Size
from forwardbook.cost import Cost
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
        amounts = {
            quantity: self._value(
                value,
                {
                    name: (one.own.amounts[quantity], two.own.amounts[quantity])
                    for name, (one, two) in self.further.items()
                },
            )
            for quantity, value in self.first.own.amounts.items()
        }
        states = self.first.own.states
        others = {name: (one.own.states, two.own.states) for name, (one, two) in self.further.items()}
        if any(len(each) != len(states) for pair in others.values() for each in pair):
            raise NotLinear("states")
        grown = tuple(
            self._value(value, {name: (one[place], two[place]) for name, (one, two) in others.items()})
            for place, value in enumerate(states)
        )
        return OwnCost(amounts, grown, self._lines())

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
                self._cost(
                    line.cost, {name: (a[line.key].cost, b[line.key].cost) for name, (a, b) in keyed.items()}
                ),
                line.operations,
            )
            for line in self.first.own.lines
        )

    def _cost(self, cost: Cost, others: Mapping[str, tuple[Cost, Cost]]) -> Cost:
        def part(quantity: str) -> Size:
            pairs = {
                name: (Expr.of(getattr(a, quantity)), Expr.of(getattr(b, quantity)))
                for name, (a, b) in others.items()
            }
            return self._value(Expr.of(getattr(cost, quantity)), pairs)

        return Cost(*map(part, ("flops", "pointwise_ops", "reads", "writes")))

    def _calls(self) -> tuple[CallGroup, ...]:
        keyed = {name: [{c.place: c for c in b.calls} for b in pair] for name, pair in self.further.items()}
        places = {call.place for call in self.first.calls}
        if any(set(each) != places for pair in keyed.values() for each in pair):
            raise NotLinear("calls")
        return tuple(
            CallGroup(
                call.line,
                call.attribute,
                call.callee,
                self._value(
                    call.times, {n: (a[call.place].times, b[call.place].times) for n, (a, b) in keyed.items()}
                ),
                self._value(
                    call.live, {n: (a[call.place].live, b[call.place].live) for n, (a, b) in keyed.items()}
                ),
            )
            for call in self.first.calls
        )

"""What a regime demands of its names in; which conditions follow from it, and which never hold, out."""

from __future__ import annotations

from collections.abc import Sequence

from forwardbook.entries.expressions import RegimeExpressions
from forwardbook.formula import Condition, Expr, dominant
from forwardbook.formula.condition import negated


class Facts:
    """The least size of each name by a regime, those that are numbers, and those that definitions give."""

    def __init__(self, regime: RegimeExpressions) -> None:
        self.definitions = regime.definitions
        least = dict(regime.least)
        numbers: dict[str, Expr | int] = {}
        for one in regime.conditions:
            names = one.left.symbols()
            if (
                len(names) != 1
                or not one.right.is_const
                or one.left != Expr.symbol(name := next(iter(names)))
            ):
                continue
            number = one.right.const_value()
            if one.op == "==":
                numbers[name] = number
            elif one.op in (">=", ">"):
                least[name] = max(least[name], number + (one.op == ">"))
        self._above: dict[str, Expr | int] = {
            name: Expr.symbol(name) + (size - 1) for name, size in least.items() if size != 1
        }
        self.values = {name: Expr.of(numbers.get(name, Expr.symbol(name))) for name in sorted(regime.names)}
        for _ in regime.definitions:
            made = {name: value.subs(self.values) for name, value in regime.definitions.items()}
            self.values |= {name: value for name, value in made.items() if name not in numbers}
        self._conditions = {one.subs(self.values) for one in regime.conditions}

    def follows(self, condition: Condition) -> bool:
        """Whether a condition is proved for all sizes of the regime."""
        return condition in self._conditions or condition.subs(self._above).is_trivially_true()

    def never(self, condition: Condition) -> bool:
        """Whether it is proved that a condition does not hold for any sizes of the regime."""
        return self.follows(negated(condition))

    def largest(self, values: Sequence[Expr]) -> list[Expr]:
        """The values without those that another is at least, for all sizes of the regime."""
        distinct = list(dict.fromkeys(values))
        above = [value.subs(self._above) for value in distinct]
        kept = set(dominant(above))
        return [value for value, moved in zip(distinct, above, strict=True) if moved in kept]

"""Conditions in; out the sizes that these make a function of others, which alone are free to change."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from forwardbook.formula import Condition, Expr, FormulaError
from forwardbook.formula.atoms import Symbol


class Tied:
    """Sizes that equalities say: `{width} == {heads} * {head_dim}`, the first side that is a size alone.

    Those of `held` are said by none.
    """

    def __init__(self, conditions: Iterable[Condition], held: Collection[str] = ()) -> None:
        self._said: dict[str, Expr] = {}
        for condition in conditions:
            if condition.op == "==":
                self._add(condition, held)

    def _add(self, condition: Condition, held: Collection[str]) -> None:
        try:
            left, right = self.of(condition.left), self.of(condition.right)
            for one, other in ((left, right), (right, left)):
                name = _name(one)
                if name and name not in held and name not in other.symbols():
                    said = {n: value.subs({name: other}) for n, value in self._said.items()}
                    self._said = {**said, name: other}
                    return
        except FormulaError:
            return  # written out it would be too long: both stay free

    def of(self, value: Expr) -> Expr:
        """A formula in the sizes that are free.

        Raises:
            FormulaError: it is too long then.
        """
        return value.subs(self._said)

    def condition(self, one: Condition) -> Condition:
        """A condition on the sizes that are free.

        Raises:
            FormulaError: it is too long then.
        """
        return Condition(self.of(one.left), one.op, self.of(one.right))

    def whole(self, sizes: Mapping[str, int]) -> dict[str, int] | None:
        """All sizes, of those that are free; None where one would be none."""
        try:
            said = {name: value.evaluate(sizes) for name, value in self._said.items()}
        except FormulaError:
            return None
        return {**sizes, **said} if all(size > 0 for size in said.values()) else None


def _name(value: Expr) -> str:
    """The name of a size that stands alone; empty for anything else."""
    atoms = value.atoms()
    if len(atoms) == 1 and isinstance(atoms[0], Symbol) and value == Expr.atom(atoms[0]):
        return atoms[0].name
    return ""

"""Sizes that break a condition in; out what the run there compared beyond that: guards of another path.

A formula may hold on the other side of a condition and still hold there only for some sizes: code that runs
for equal counts of heads never asks how wide they are, code that runs for grouped ones does. Whoever drops a
condition takes over what the run on its other side asks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from forwardbook.analyzers.symbolic.assume import Assumed, informative
from forwardbook.analyzers.symbolic.patterns import conditions_at
from forwardbook.analyzers.symbolic.run import run_symbolically
from forwardbook.formula import Condition, Expr
from forwardbook.formula.condition import negated
from forwardbook.pipeline.derivation.derived import Derived


def further_guards(
    test: Condition, sizes: Mapping[str, int], derived: Sequence[Derived]
) -> list[Condition] | None:
    """What is compared at `sizes`, where `test` is broken, and is not among the patterns' conditions.

    Where the test is about one size, which is 1 there, that number stands for it. None where no symbolic run
    is had there: nothing is known of that side.
    """
    first = derived[0]
    try:
        run = run_symbolically(first.recipe, first.dtype, hints=sizes)
    except Exception:  # noqa: BLE001 - analysed code may raise anything
        return None
    stated = Assumed([Condition.parse(text) for text in first.recipe.conditions])
    known = {c.text() for one in derived for c in one.pattern.conditions} | {negated(test).text()}
    known |= {negated(c).text() for one in derived for c in one.pattern.conditions}
    ones: dict[str, int | Expr] = {name: 1 for name in test.symbols() if sizes.get(name) == 1}
    found: dict[str, Condition] = {}
    for one in derived:
        conditions = conditions_at(run, one.pattern.path, one.pattern.occurrence)
        if conditions is None:
            continue
        asked = stated.conditions(conditions)
        new = [c for c in asked if c.text() not in known]
        said = [c.subs(ones) for c in new]
        for condition in informative([c for c in said if not c.is_trivially_true()], asked):
            found.setdefault(condition.text(), condition)
    return list(found.values())

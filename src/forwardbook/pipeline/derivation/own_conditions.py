"""Patterns proved where the conditions of all of them hold; out what each needs of the others' to hold alone.

A proof draws sizes that fit every pattern of a run at once. A regime is given for whatever fits its own
conditions: there the others' may be broken, and what they compared may decide with what shapes it is called.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Final

from forwardbook.analyzers.symbolic.trace import Trace
from forwardbook.formula import Condition
from forwardbook.formula.expr import Known
from forwardbook.pipeline.derivation.alone import DRAWS, REFUSED, Alone, Search, plainness
from forwardbook.pipeline.derivation.derived import Derived
from forwardbook.pipeline.derivation.free_sizes import FreeSizes
from forwardbook.pipeline.derivation.fruitless import Fruitless
from forwardbook.pipeline.derivation.regimes import is_order
from forwardbook.profiling.proof import measure, met_throughout, widths_of

PER_PATTERN: Final = 2  # draws for each pattern, where there are many
ORDERS: Final = 24  # of what asked which of two sizes, or numbers, is the larger so many add draws at most
ORDER_DRAWS: Final = 2  # for each: a first that breaks several at once leaves it open which is needed
ORDER_REFUSALS: Final = 4  # for each: beyond a threshold a module refuses most sizes, before it costs a run
SAMPLED: Final = 24  # sizes at which an equation is looked at that no run was seen to break


def of_others(
    derived: Sequence[Derived],
    conditions: Sequence[Sequence[Condition]],
    held: Sequence[Condition],
    rng: random.Random,
    fruitless: Fruitless | None = None,
) -> list[list[Condition]]:
    """For each pattern of one run the conditions of others without which its formula was seen to fail.

    Patterns that are not exact are left alone.
    """
    first = derived[0]
    numbers = {name: note.hint for name, note in first.notes.items()}
    stated = [*(Condition.parse(c) for c in first.recipe.conditions), *held]
    said = {c.text(): c for one in derived for c in (*one.pattern.conditions, *one.pattern.steady)}
    around = {c.text(): c for one in derived for c in one.pattern.around}
    said = {text: c for text, c in around.items() if is_order(c)} | said
    universe = [c for c in said.values() if c.symbols() <= numbers.keys()]
    alone = [_of(one, own, universe) for one, own in zip(derived, conditions, strict=True)]
    asking = [one for one in alone if one.others]
    orders = min(ORDERS, sum(map(is_order, universe)))
    draws = max(DRAWS, PER_PATTERN * len(asking)) + ORDER_DRAWS * orders
    free = FreeSizes(numbers, stated, rng, fruitless=fruitless)
    search = Search(asking, free, draws, REFUSED + ORDER_REFUSALS * orders)
    widths = widths_of(first.dtype)
    for sizes, trace in search.runs(lambda sizes: measure(first.recipe, sizes, first.dtype, widths)):
        _judge(derived, alone, trace, {**sizes, **widths})
    needed = [mine.needed() for mine in alone]
    return [
        [*more, *_keeping(one, mine, more, search.free)]
        for one, mine, more in zip(derived, alone, needed, strict=True)
    ]


def _keeping(one: Derived, alone: Alone, needed: Sequence[Condition], free: FreeSizes) -> list[Condition]:
    """Equations of others, of its sizes and of numbers needed by then, that no run was seen to break.

    What is handed to a module may have a shape that such a number gave, and nothing that it asked says so.
    What every size that fits the rest meets is left out: it says nothing.
    """
    about, numbers = one.pattern.summary.symbols(), one.pattern.before
    said = ((c, c.symbols()) for c in alone.untried() if c.op == "==" and "%" not in c.text())
    open_ = [c for c, names in said if names <= about | numbers and names & about and names & numbers]
    if not open_:
        return []
    mine = [*alone.own, *needed]
    drawn = [free.draw(mine, by_quotients) for by_quotients in (False, True) for _ in range(SAMPLED)]
    left = [sizes for sizes in drawn if sizes is not None]
    found: list[Condition] = []
    for condition in sorted(open_, key=plainness):
        if not all(condition.is_met(sizes) for sizes in left):
            found.append(condition)
            left = [sizes for sizes in left if condition.is_met(sizes)]
    return found


def _of(one: Derived, conditions: Sequence[Condition], universe: Sequence[Condition]) -> Alone:
    """A pattern that has still to break what no point of its proof did."""
    mine = {c.text() for c in conditions}
    alone = Alone(list(conditions), [c for c in universe if c.text() not in mine] if one.exact else [])
    for point in one.proof.points if one.exact else ():
        known: Known = {}
        alone.is_known(alone.broken(point.sizes, known), point.sizes, known)
    return alone


def _judge(
    derived: Sequence[Derived], alone: Sequence[Alone], trace: Trace, sizes: Mapping[str, int]
) -> None:
    """Every pattern that is seen for the first time without a condition of others, held against the run."""
    known: Known = {}
    for one, mine in zip(derived, alone, strict=True):
        if not one.exact or not (broken := mine.broken(sizes, known)) or mine.knows(broken):
            continue
        point = met_throughout(trace, one.pattern, sizes)
        if point is None:
            continue
        if point.differences:
            mine.fails(sizes, broken)
        else:
            mine.has_held(broken, sizes, known)

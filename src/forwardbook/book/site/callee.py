"""A called class as the line sees it that calls it: work and layers of its regimes, in the line's names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from forwardbook.book.site.work import Work, polynomial
from forwardbook.formula import Expr
from forwardbook.formula.atoms import Symbol
from forwardbook.schema import WIDTH_NAMES, SubmoduleCall

ROWS: Final = "rows.of_a_call"
"""Stands for the product of the sizes of a call that its caller does not name."""


@dataclass(frozen=True, slots=True)
class CalledRegime:
    """A regime of a called class: all of its work, the layers that do it, the operations that it issues.

    `together` lines beneath it could not be told apart from what is beside them.
    """

    conditions: frozenset[str]
    whole: Work
    layers: Mapping[Work, int]
    issued: Counter[str]
    together: int = 0


@dataclass(frozen=True, slots=True)
class Seen:
    """A regime in the names of a caller: `values` stand for its own names in `whole` and in its layers."""

    regime: CalledRegime
    whole: Work
    values: Mapping[str, Expr] = field(default_factory=dict)

    @classmethod
    def of(cls, regime: CalledRegime, values: Mapping[str, Expr]) -> Seen:
        """The regime with these values."""
        return cls(regime, regime.whole.subs(values), values)

    def layers(self, rows: Expr) -> Counter[Work]:
        """The layers of a call of so many rows."""
        found: Counter[Work] = Counter()
        for work, times in self.regime.layers.items():
            found[work.subs(self.values).subs({ROWS: rows})] += times
        return found


def in_names_of_caller(regime: CalledRegime, call: SubmoduleCall, names: frozenset[str]) -> Iterator[Seen]:
    """The regime in the names of its caller, as far as they can be told.

    Classes of a model share the names of its config, so a name that both have is one, unless the call binds
    it. Layers of torch share no names: `batch_size` of a Linear is the number of its rows. Where sizes that
    no name is known for occur as one product alone, that product is ROWS.
    """
    needed = regime.whole.symbols() - set(WIDTH_NAMES)
    bound = {name: polynomial(text) for name, text in call.bindings.items() if name in needed}
    if not call.class_name.startswith("torch."):
        if needed <= names:
            yield Seen(regime, regime.whole)
        if bound and needed <= names | bound.keys():
            yield Seen.of(regime, bound)
    free = needed - bound.keys()
    if bound and free and _is_one_product(regime.whole, free):
        one, *others = sorted(free)
        product = {one: Expr.symbol(ROWS), **{name: Expr.const(1) for name in others}}
        yield Seen.of(regime, {**bound, **product})


def _is_one_product(work: Work, names: frozenset[str]) -> bool:
    """Whether each term has all of the names once, or none of them."""
    for monomial in (*work.flops.terms, *work.moved.terms):
        powers = {atom.name: power for atom, power in monomial.powers if isinstance(atom, Symbol)}
        others = (Expr.atom(atom) for atom, _ in monomial.powers if not isinstance(atom, Symbol))
        if any(not other.symbols().isdisjoint(names) for other in others):
            return False
        if {powers.get(name, 0) for name in names} not in ({0}, {1}):
            return False
    return True

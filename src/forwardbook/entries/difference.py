"""Two stores in; the classes whose costs differ at points that both can be asked at out."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from forwardbook.entries.cost_model import CostModel
from forwardbook.entries.definitions import completed
from forwardbook.entries.evaluate import Evaluation
from forwardbook.entries.regimes import EntryError, Signature
from forwardbook.errors import FormulaError
from forwardbook.schema import QUANTITIES

POINTS: Final = 24
"""Points that are drawn for a signature, beside those of its proofs."""
_FACTORS: Final = (1, 1, 1, 3)

Kind = Literal["added", "removed", "changed", "refused", "accepted", "untried"]
"""`refused`: at a point no regime holds any more; `accepted`: one does by now; `untried`: none did at any."""


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs of one way to call a class, at the first point where something does."""

    key: str
    signature: str
    kind: Kind
    sizes: Mapping[str, int] = field(default_factory=dict)
    amounts: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Before and after of each quantity that differs."""
    is_own: bool = True
    """Whether the entry itself was changed, not only those that it calls."""
    reason: str = ""


def diff(old: CostModel, new: CostModel, keys: Collection[str] | None = None) -> Iterator[Difference]:
    """What differs between two stores, by evaluation: formulas that are written anew are not told.

    Points are those of the proofs of both, and sizes drawn by the names of class and signature.
    """
    for key in sorted({*old.entries, *new.entries} if keys is None else keys):
        ways = [_signatures(one, key) for one in (old, new)]
        for name in dict.fromkeys([*ways[0], *ways[1]]):
            if name not in ways[0] or name not in ways[1]:
                yield Difference(key, name, "added" if name in ways[1] else "removed")
            elif (found := _difference(old, new, key, name)) is not None:
                yield found


def _signatures(model: CostModel, key: str) -> tuple[str, ...]:
    return model.regimes.signatures(key) if key in model.entries else ()


def _difference(old: CostModel, new: CostModel, key: str, name: str) -> Difference | None:
    """The first difference in one way to call a class."""
    is_own = _formulas(old, key) != _formulas(new, key)
    try:
        ways = (old.regimes.signature(key, name), new.regimes.signature(key, name))
    except EntryError as error:
        return Difference(key, name, "refused", is_own=is_own, reason=str(error))
    is_tried = False
    for sizes in _points(ways):
        (before, why), (after, why_not) = _at(old, ways[0], sizes), _at(new, ways[1], sizes)
        if before is None and after is None:
            continue
        if before is None or after is None:
            kind: Kind = "refused" if after is None else "accepted"
            return Difference(key, name, kind, sizes, is_own=is_own, reason=why or why_not)
        is_tried = True
        amounts = {one: (getattr(before.costs, one), getattr(after.costs, one)) for one in QUANTITIES}
        if changed := {one: both for one, both in amounts.items() if both[0] != both[1]}:
            return Difference(key, name, "changed", sizes, changed, is_own)
    return None if is_tried else Difference(key, name, "untried", is_own=is_own)


def _at(model: CostModel, signature: Signature, sizes: Mapping[str, int]) -> tuple[Evaluation | None, str]:
    try:
        return model.evaluator.at(signature, sizes), ""
    except EntryError as error:
        return None, str(error)


def _formulas(model: CostModel, key: str) -> object:
    """What an entry says itself, its proofs and line numbers aside."""
    aside = {"proof", "lines", "arguments", "assumptions", "closed"}
    entry = model.regimes.entry(model.regimes.holder(key))
    return [one.model_dump(exclude=aside) for one in entry.regimes]


def _points(ways: tuple[Signature, Signature]) -> Iterator[dict[str, int]]:
    """Sizes of all names of two signatures, some made of others by their definitions."""
    regimes = [one for each in ways for one in each.regimes]
    for regime in regimes:
        for point in regime.regime.proof.points:
            yield dict(point.sizes)
    definitions = {name: value for one in regimes for name, value in one.definitions.items()}
    names = sorted({name for each in ways for name in each.names} - definitions.keys())
    rng = random.Random(f"{ways[0].key} {ways[0].name}")
    for number in range(POINTS):
        sizes = {name: rng.choice(_FACTORS) * 2 ** rng.randint(0, 1 + number % 8) for name in names}
        try:
            yield completed(definitions, sizes)
        except FormulaError:
            continue

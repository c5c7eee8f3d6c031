"""Sizes in, exact costs of one call out: a regime that holds is chosen, its calls are walked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from forwardbook.calculator import Costs
from forwardbook.calculator.composed import MAX_DEPTH, MAX_STEPS, SUMMED
from forwardbook.entries.definitions import completed
from forwardbook.entries.expressions import CallExpressions, RegimeExpressions
from forwardbook.entries.record import Entry
from forwardbook.entries.regimes import EntryError, Regimes, Signature
from forwardbook.errors import FormulaError
from forwardbook.formula.expr import Known
from forwardbook.formula.limits import MAX_COEFFICIENT, MAX_DIGITS
from forwardbook.schema import QUANTITIES

MAX_SIZE: Final = 2**63
_KEPT: Final = 200_000  # evaluations that are remembered
_WEIGHTS_READ: Final = SUMMED.index("weights_read")


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What one call costs at sizes, by the regime that holds there; `sizes` are those of all its names."""

    signature: Signature
    regime: RegimeExpressions
    sizes: Mapping[str, int]
    sums: tuple[int, ...]
    """The quantities in the order of SUMMED, calls included."""
    boundary: int
    peak: int

    @property
    def costs(self) -> Costs[int]:
        """All eight quantities by name."""
        found = dict(zip(SUMMED, self.sums, strict=True)) | {"boundary": self.boundary, "peak": self.peak}
        return Costs(self.regime.regime.name, **{name: found[name] for name in QUANTITIES})


class Evaluator:
    """Evaluates the entries of a store; equal calls are evaluated once, also for whoever asks later."""

    def __init__(self, entries: Mapping[str, Entry]) -> None:
        self.regimes = Regimes(entries)
        self._known: dict[object, Evaluation | None] = {}
        self._open: dict[object, None] = {}
        self._steps = 0

    def at(self, signature: Signature, sizes: Mapping[str, int]) -> Evaluation | None:
        """The costs of one call, or None where no regime of the signature holds.

        Raises:
            EntryError: a called class is not in the store, calls itself without end, or goes too deep.
        """
        self._begin()
        return self._found(signature, sizes)

    def call(self, call: CallExpressions, sizes: Mapping[str, int]) -> tuple[int, Evaluation | None]:
        """How many such calls a class makes at its sizes, and what each costs; None where no regime holds.

        Raises:
            FormulaError: a formula of the call has no value there.
        """
        self._begin()
        return self._call(call, sizes, {})

    def _begin(self) -> None:
        self._steps = 0
        self._open.clear()
        if len(self._known) > _KEPT:
            self._known.clear()

    def _found(self, signature: Signature, sizes: Mapping[str, int]) -> Evaluation | None:
        own = {name: sizes[name] for name in signature.names if name in sizes}
        place = (signature.key, signature.name, tuple(own.items()))
        if place in self._known:
            return self._known[place]
        if place in self._open:
            raise EntryError(f"evaluating {signature.key}: it calls itself with the same sizes; {_DERIVE}")
        if len(self._open) >= MAX_DEPTH:
            raise EntryError(
                f"evaluating {signature.key}: over {MAX_DEPTH} calls lie within each other; {_DERIVE}"
            )
        if any(abs(size) >= MAX_SIZE for size in own.values()):
            raise EntryError(f"evaluating {signature.key}: a size is 2**63 or larger; give smaller sizes")
        self._open[place] = None
        found = next((one for each in signature.regimes if (one := self._try(signature, each, own))), None)
        del self._open[place]
        self._known[place] = found
        return found

    def _try(
        self, signature: Signature, regime: RegimeExpressions, given: Mapping[str, int]
    ) -> Evaluation | None:
        """The costs by one regime, or None where it does not hold."""
        self._steps += 1 + len(regime.calls)
        if self._steps > MAX_STEPS:
            raise EntryError(f"evaluating {signature.key}: it takes over {MAX_STEPS:,} calls; {_DERIVE}")
        try:
            sizes = completed(regime.definitions, given)
            known: Known = {}
            if not (
                regime.needed <= sizes.keys()
                and all(sizes.get(name, least) >= least for name, least in regime.least.items())
                and all(one.holds(sizes, known) for one in regime.conditions)
            ):
                return None
            return self._summed(signature, regime, sizes, known)
        except FormulaError:  # what it says is told by whoever explains why no regime holds
            return None

    def _summed(
        self, signature: Signature, regime: RegimeExpressions, sizes: Mapping[str, int], known: Known
    ) -> Evaluation | None:
        """Its own costs and those of its calls; None where a call has no regime that holds."""
        sums = [one.program()(sizes, known) for one in regime.sums]
        peak = max((one.program()(sizes, known) for one in regime.states), default=0)
        for call in regime.calls:
            times, child = self._call(call, sizes, known)
            if not times:
                continue
            if child is None:
                return None
            sums = [own + times * each for own, each in zip(sums, child.sums, strict=True)]
            peak = max(peak, call.live.program()(sizes, known) + child.peak)
        boundary = regime.boundary.program()(sizes, known) + sums[_WEIGHTS_READ]
        if max(map(abs, (*sums, boundary, peak))) >= MAX_COEFFICIENT:
            raise EntryError(f"evaluating {signature.key}: a cost has over {MAX_DIGITS:,} digits; {_DERIVE}")
        return Evaluation(signature, regime, sizes, tuple(sums), boundary, peak)

    def _call(
        self, call: CallExpressions, sizes: Mapping[str, int], known: Known
    ) -> tuple[int, Evaluation | None]:
        times = call.times.program()(sizes, known)
        if times < 0:
            raise FormulaError(f"self.{call.call.attribute} is called {times} times")
        if not times:
            return 0, None
        signature = self.regimes.signature(call.call.entry, call.call.signature)
        bound = {name: value.program()(sizes, known) for name, value in call.bindings.items()}
        return times, self._found(signature, bound)


_DERIVE: Final = "its entry is damaged, derive it again: forwardbook analyze-module ... --force"

"""A regime and states of live storage that its peak lacked in; the regime with them among its peak out."""

from __future__ import annotations

from collections.abc import Iterable

from forwardbook.formula import Expr, parse
from forwardbook.formula.extremes import arguments
from forwardbook.pipeline.derivation.entry import memory_reasoning
from forwardbook.schema import Regime


def states_named(regime: Regime) -> tuple[Expr, ...]:
    """The states of live storage that its peak is the largest of."""
    return arguments(True, parse(regime.formula("peak"), exact=True))


def with_states(regime: Regime, states: Iterable[Expr]) -> Regime:
    """The same with these among the states of its peak.

    Raises:
        FormulaError: there are too many states, or they are too long to be written.
    """
    peak = Expr.maximum(*states_named(regime), *states)
    memory = regime.memory_analysis
    reasoning = memory_reasoning(len(arguments(True, peak)))
    changed = memory.model_copy(update={"peak": peak.text(), "reasoning": reasoning})
    names = tuple(sorted({*regime.parameters, *peak.symbols()}))
    return regime.model_copy(update={"memory_analysis": changed, "parameters": names})

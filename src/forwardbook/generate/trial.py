"""An entry in; the formulas of which its template makes no Python that compiles, and why, out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from forwardbook.errors import FormulaError
from forwardbook.generate.naming import python_names
from forwardbook.generate.python_code import python_expression
from forwardbook.generate.rendering import line_formulas, regime_parameters, render
from forwardbook.schema import QUANTITIES, Entry, Regime


@dataclass(frozen=True, slots=True)
class Stuck:
    """A formula that cannot be rendered: where it stands first, and what went wrong."""

    place: str
    formula: str
    reason: str


def stuck(entry: Entry) -> tuple[Stuck, ...]:
    """The formulas that cannot be rendered; none for nearly every entry, which is told quickly."""
    if not entry.regimes:
        return ()
    try:
        compile(render(entry), entry.full_class_name, "exec")
    except (FormulaError, RecursionError, MemoryError, SyntaxError, ValueError):
        found: dict[str, Stuck] = {}
        for regime in entry.regimes:
            for one in _stuck(regime):
                found.setdefault(one.formula, one)
        return tuple(found.values())
    return ()


def _stuck(regime: Regime) -> Iterator[Stuck]:
    names = python_names(regime_parameters(regime))
    for place, formula in _formulas(regime):
        try:
            compile(python_expression(formula, names), place, "eval")
        except (FormulaError, RecursionError, MemoryError, SyntaxError, ValueError) as error:
            yield Stuck(place, formula, f"{type(error).__name__}: {str(error)[:200]}")


def _formulas(regime: Regime) -> Iterator[tuple[str, str]]:
    for quantity in QUANTITIES:
        yield f"{regime.name}, {quantity}", regime.formula(quantity)
    for line in line_formulas(regime):
        for quantity in ("flops", "pointwise_ops", "reads", "writes"):
            yield f"{regime.name}, line {line.line}, {quantity}", getattr(line, quantity)

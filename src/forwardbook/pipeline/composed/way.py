"""One way to call a class, and what its names are in those of a caller."""

from __future__ import annotations

from dataclasses import dataclass

from forwardbook.analyzers.derive.breakdown import Callee
from forwardbook.analyzers.derive.local import Local
from forwardbook.analyzers.derive.names import Names
from forwardbook.formula import Expr
from forwardbook.pipeline.composed.facts import Facts


@dataclass(frozen=True)
class Way:
    """One way to call a class: the names that a caller says, or why it has no formulas."""

    key: str
    local: Local | None = None
    names: frozenset[str] = frozenset()
    reason: str = ""
    free: frozenset[str] = frozenset()
    """Those of the names that no boundary tells: widths, and what data decides."""
    refused: bool = False
    """Whether it refused to run: another choice among equal names may do."""
    facts: Facts = Facts()


def callee_of(way: Way, names: Names) -> Callee | None:
    """A way and its names in its caller's; widths and what data decides are called the same in both."""
    if way.local is None or way.reason:
        return None
    callers = way.local.bindings(names.callers)
    if any(name not in callers for name in way.names - way.free):
        return None
    return Callee(way.key, {name: callers.get(name, Expr.symbol(name)) for name in sorted(way.names)})

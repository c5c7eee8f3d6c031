"""forwardbook turns the forward() of a PyTorch module into exact cost formulas, and proves them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from forwardbook import cost
    from forwardbook.pipeline.analysis.objects import analyze

__version__: Final = "0.1.0"
__all__ = ["analyze", "cost"]


def __getattr__(name: str) -> object:
    """`analyze(cls)` and `cost(module, *inputs)`, imported when they are first asked for."""
    if name == "analyze":
        from forwardbook.pipeline.analysis.objects import analyze

        return analyze
    if name == "cost":
        from importlib import import_module

        return import_module("forwardbook.cost")  # a module that can be called
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

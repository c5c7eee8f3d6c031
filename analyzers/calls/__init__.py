"""Facts of all files in, the edges between definitions out: who calls, constructs and inherits from whom."""

from forwardbook.analyzers.calls.graph import Graph
from forwardbook.analyzers.calls.trace import Stop, Trace, trace
from forwardbook.analyzers.calls.values import Place

__all__ = ["Graph", "Place", "Stop", "Trace", "trace"]

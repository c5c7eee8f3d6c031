"""Source text and abstract values in, the operations of forward() out: interpreted, never imported."""

from forwardbook.analyzers.static.frames import Frame, current_frames
from forwardbook.analyzers.static.interpreter import Interpreter
from forwardbook.analyzers.static.run import (
    ClassSource,
    InterpretedModule,
    InterpretedRun,
    construct,
    construct_config,
    interpret,
)
from forwardbook.analyzers.static.unresolved import Unresolved

__all__ = [
    "ClassSource",
    "Frame",
    "InterpretedModule",
    "InterpretedRun",
    "Interpreter",
    "Unresolved",
    "construct",
    "construct_config",
    "current_frames",
    "interpret",
]

"""The running interpretation in; out the places that a recorder of operations asks for, in its own terms."""

from __future__ import annotations

from types import FrameType

import libcst as cst
import torch

from forwardbook.analyzers.static.frames import MARKERS, STACK, Activation
from forwardbook.analyzers.symbolic.ledger import asking_frame, constructing
from forwardbook.analyzers.symbolic.places import is_torch, place_of, within_call
from forwardbook.analyzers.symbolic.trace import Place


class InterpretedPlaces:
    """Where interpreted functions are; torch's own that they call are told from Python's frames."""

    def segment(self, frame: FrameType | None) -> tuple[Place, ...]:
        """The places up to the innermost module call, outermost first; wrappers where nothing else is."""
        places: list[Place] = []
        wrappers: list[Place] = []
        index = len(STACK)
        for one in within_call(frame):
            if one.f_code in MARKERS:
                index -= 1
                activation = STACK[index]
                (wrappers if activation.passes_on else places).append(_place(activation))
            elif is_torch(one.f_code.co_filename):
                places.append(place_of(one))
        return tuple(reversed(places or wrappers))

    def constructing(self, frame: FrameType | None) -> tuple[int, ...]:
        """Identities of the modules whose `__init__` runs, interpreted or torch's own."""
        found = [
            id(one.instance)
            for one in reversed(STACK)
            if one.qualname.endswith("__init__") and isinstance(one.instance, torch.nn.Module)
        ]
        return (*constructing(frame), *found)

    def asking(self, frame: FrameType | None) -> tuple[str, int]:
        """The file and line that need a number."""
        if not STACK:
            return asking_frame(frame)
        return str(STACK[-1].source.path), STACK[-1].span().line


def _place(activation: Activation) -> Place:
    """Where an interpreted function is, the range that Python would give its instruction."""
    at = activation.span()
    line, node = at.line, activation.node
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        line = activation.source.span(node.func.attr).line  # a method's call begins where its name is
    return Place(
        str(activation.source.path), activation.qualname, line, max(at.end_line, line), at.col, at.end_col
    )

"""Flows: messages are edges, frames are control flow, big flows come in pieces."""

from __future__ import annotations

from forwardbook.analyzers.detail.steps import (
    Arm,
    BranchStep,
    CallStep,
    LoopStep,
    ParallelStep,
    Step,
    TryStep,
)
from forwardbook.analyzers.index.facts import Edge, FileFacts, How
from forwardbook.book.mermaid.flow import Flows, opened, split
from forwardbook.book.mermaid.sequence import Frame, Item, Message, Part, messages

PATH = "a.py"


def edge(line: int, callee: str, how: How = "exact", constructs: str = "") -> Edge:
    """An edge at a line."""
    return Edge(PATH, "", line, how, PATH if how != "external" else "", callee, constructs=constructs)


def flows(steps: dict[str, tuple[Step, ...]], edges: dict[str, tuple[Edge, ...]], classes: str = "") -> Flows:
    """Flows of a file without anything else."""
    facts = FileFacts(PATH, "python", "", 1)
    known = classes.split()
    return Flows(facts, steps, lambda name: edges.get(name, ()), *[lambda _, name: name in known] * 2)


def call(line: int, target: str, *arguments: str) -> CallStep:
    """A call at a line."""
    return CallStep(line, 0, target, arguments)


def test_only_calls_with_an_edge_are_drawn() -> None:
    """Built-ins, unresolved and possible calls give no message; nor does an edge of another line."""
    steps = tuple(call(line, "f") for line in range(1, 7))
    edges = (
        edge(1, "f"),
        edge(2, "f", "unresolved"),
        edge(3, "f", "possible"),
        edge(4, "builtins.f", "external"),
        edge(9, "f"),
        edge(6, "pkg.mod.f", "external"),
    )
    found = flows({"": steps}, {"": edges}).items("")
    assert [Message(PATH, PATH, "f()", 1, "f"), Message(PATH, "pkg", "mod.f()", 6, "", True)] == list(found)


def test_the_receiver_is_the_class_and_a_constructor_is_called_by_its_class() -> None:
    """`A.f` is sent to A, and making an A is `A(...)`."""
    steps = (call(1, "A", "x"), call(1, "().f", "y"))
    edges = (edge(1, "A.__init__", constructs="A"), edge(1, "A.f"))
    found = flows({"g": steps}, {"g": edges}, "A").items("g")
    assert [("a.py", "A", "A(x)"), ("a.py", "A", "f(y)")] == [
        (each.source, each.target, each.text) for each in messages(found)
    ]


def test_control_flow_becomes_frames_and_empty_ones_vanish() -> None:
    """A loop, an alternative, one arm or handler alone as `opt`, and things at once as `par`."""
    a, b = call(1, "f"), call(2, "f")
    edges = tuple(edge(line, "f") for line in (1, 2))
    cases: list[tuple[Step, list[str]]] = [
        (LoopStep(1, "for x in y", (a,)), ["loop"]),
        (LoopStep(1, "for x in y", ()), []),
        (BranchStep(1, (Arm(1, "c", (a,)), Arm(2, "else", (b,)))), ["alt"]),
        (BranchStep(1, (Arm(1, "c", ()), Arm(2, "else", (b,)))), ["opt"]),
        (TryStep(1, (), (Arm(1, "ValueError", (a,)),)), ["opt"]),
        (ParallelStep(1, "gather", (Arm(1, "1", (a,)), Arm(2, "2", (b,)))), ["par"]),
    ]
    for step, kinds in cases:
        found = flows({"": (step,)}, {"": edges}).items("")
        assert kinds == [each.kind for each in found if isinstance(each, Frame)]


def test_an_arm_of_else_alone_says_what_does_not_hold() -> None:
    """`else` by itself would say nothing."""
    step = BranchStep(1, (Arm(1, "c", ()), Arm(2, "else", (call(2, "f"),))))
    (frame,) = flows({"": (step,)}, {"": (edge(2, "f"),)}).items("")
    assert isinstance(frame, Frame) and "else, not c" == frame.parts[0].text


def test_callees_of_the_same_file_are_opened_once_and_within_bounds() -> None:
    """Recursion ends, and what does not fit stays closed."""
    steps: dict[str, tuple[Step, ...]] = {
        "f": (call(1, "g"), call(2, "g")),
        "g": (call(3, "f"), call(4, "h")),
    }
    edges = {"f": (edge(1, "g"), edge(2, "g")), "g": (edge(3, "f"), edge(4, "h"))}
    items, seen = opened(flows(steps, edges), "f", 10)
    assert ["g()", "f()", "h()", "g()"] == [each.text for each in messages(items)] and seen == {"f", "g"}
    items, seen = opened(flows(steps, edges), "f", 3)
    assert ["g()", "g()"] == [each.text for each in messages(items)] and seen == {"f"}


def test_pieces_hold_every_message_in_order_and_none_is_too_long() -> None:
    """Frames that are too long come again under the same header."""
    many = tuple(Message("a", "b", f"f{number}()") for number in range(23))
    items: tuple[Item, ...] = (*many[:3], Frame("loop", (Part("for", many[3:20]),)), *many[20:])
    pieces = split(items, 5)
    assert all(sum(1 for _ in messages(piece)) <= 5 for piece in pieces)
    assert [each.text for each in many] == [each.text for piece in pieces for each in messages(piece)]

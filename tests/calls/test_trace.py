"""Traces: the tree of calls, where it ends and why."""

from __future__ import annotations

import pytest

from forwardbook.analyzers.calls import trace

CHAIN = {
    "a.py": """\
        from abc import ABC, abstractmethod
        from b import Engine

        class Shape(ABC):
            @abstractmethod
            def area(self): ...

        def start(shape: Shape, thing):
            engine = Engine()
            engine.run(2)
            shape.area()
            thing.mystery()
            print("done")

        def loop():
            loop()
        """,
    "b.py": """\
        import torch

        class Engine:
            def __init__(self):
                self.power = 1

            def run(self, n):
                if n:
                    return self.run(n - 1)
                return torch.relu(self.power)
        """,
}


def lines(found):
    """A trace as indented words: line, name, span, and why it stops."""
    words = []
    for depth, node in found.walk():
        at = f"{node.edge.line} " if node.edge else ""
        span = f" {node.span.start}-{node.span.end}" if node.span else ""
        stop = f" [{node.stop}]" if node.stop else ""
        words.append("  " * depth + f"{at}{node.qualname}{span}{stop}")
    return words


def test_a_trace_gives_lines_spans_and_stops(graph):
    """Every node has the line of its call and the span of its definition; every end says why it is one."""
    found = trace(graph(CHAIN), "a.py", "start")
    assert [
        "start 8-13",
        "  9 Engine.__init__ 4-5 [leaf]",
        "  10 Engine.run 7-10",
        "    9 Engine.run 7-10 [seen]",
        "    10 torch.relu [external]",
        "  11 Shape.area 6-6 [abstract]",
        "  12 thing.mystery [unresolved]",
    ] == lines(found)
    assert {
        "torch.relu": "outside the repository",
        "Shape.area": "`Shape.area` is abstract: a subclass's override runs",
        "thing.mystery": "parameter `thing` has no annotation",
    } == {node.qualname: node.reason for node in found.stops()}


def test_depth_and_recursion_end_a_trace(graph):
    """A depth used up is named with the number of calls left out; recursion is followed once."""
    made = graph(CHAIN)
    shallow = trace(made, "a.py", "start", depth=1)
    assert "  10 Engine.run 7-10 [depth]" in lines(shallow)
    assert ["loop 15-16", "  16 loop 15-16 [seen]"] == lines(trace(made, "a.py", "loop"))


@pytest.mark.parametrize(("builtins", "expected"), [(True, True), (False, False)])
def test_builtins_are_shown_when_asked_for(graph, builtins, expected):
    """`print` is a node only with `builtins`."""
    found = trace(graph(CHAIN), "a.py", "start", builtins=builtins)
    assert expected == any(node.qualname == "builtins.print" for _, node in found.walk())


def test_a_wide_tree_is_cut_and_says_so(graph):
    """A tree of more calls than the limit is cut where the limit is met."""
    names = [f"f{number}" for number in range(600)]
    text = "".join(f"def {name}(): pass\n" for name in names)
    text += "def all():\n" + "".join(f"    {name}()\n" for name in names)
    found = trace(graph({"a.py": text}), "a.py", "all")
    assert "size" == found.stop
    assert 400 == len(found.calls)

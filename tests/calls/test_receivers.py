"""What an object is known to be: constructors, annotations, returned values, containers."""

from __future__ import annotations

import pytest

from .tool import TOOL, tool


@pytest.mark.parametrize(
    "body",
    [
        "x = Tool()",
        "x: Tool = unknown()",
        "x: 'Tool' = unknown()",
        "x: Tool | None = None",
        "x = make()",
        "x = Tool().copy()",
        "x = Tool() if y else None",
        "x = None or Tool()",
        "xs = [Tool()]; x = xs[0]",
        "xs = [Tool() for _ in y]; x = xs[1]",
        "xs: list[Tool] = []; x = xs.pop()",
        "d: dict[str, Tool] = {}; x = d['k']",
        "d: dict[str, Tool] = {}; x = d.get('k')",
        "t = (1, Tool()); x = t[1]",
        "_, x = (1, Tool())",
        "x = next(iter([Tool()]))",
        "x = (z := Tool())",
        "import copy; x = copy.deepcopy(Tool())",
        "from typing import cast; x = cast(Tool, y)",
        "x = type(Tool())()",
        "K = Tool; x = K()",
        "x = {'a': Tool}['a']()",
        "x = Tool() or Tool()",
    ],
)
def test_what_a_local_is_bound_to_gives_its_type(graph, edges, body):
    """Every way to bind a `Tool` makes `x.use()` the method of `Tool`."""
    made = graph(
        {"tool.py": TOOL, "a.py": f"from tool import Tool, make\ndef f(y):\n    {body}\n    x.use()\n"}
    )
    assert "4 exact tool.py:Tool.use" in edges(made, "a.py", "f")


@pytest.mark.parametrize(
    "loop",
    [
        "for x in [Tool()]:",
        "for _, x in enumerate([Tool()]):",
        "for k, x in {'k': Tool()}.items():",
        "for x in {'k': Tool()}.values():",
        "for (_, x), _ in zip(enumerate([Tool()]), y):",
        "for x in sorted([Tool()]):",
        "for x in reversed([Tool()]):",
        "for x in many():",
        "with opened() as x:",
        "with Guard() as x:",
    ],
)
def test_what_a_loop_or_with_binds(graph, edges, loop):
    """Items of containers, generators and context managers are known by what they hold."""
    text = f"""\
from collections.abc import Iterator
from contextlib import contextmanager
from tool import Tool
def many() -> Iterator[Tool]: ...
@contextmanager
def opened() -> Iterator[Tool]:
    yield Tool()
class Guard:
    def __enter__(self) -> Tool: ...
def f(y):
    {loop}
        x.use()
"""
    made = graph({"tool.py": TOOL, "a.py": text})
    assert "12 exact tool.py:Tool.use" in edges(made, "a.py", "f")


def test_comprehensions_bind_their_own_names(graph, edges):
    """The variable of a comprehension is an item of what it runs over."""
    made = graph(
        {
            "tool.py": TOOL,
            "a.py": "from tool import Tool\ndef f(xs: list[Tool]):\n    [x.use() for x in xs]\n",
        }
    )
    assert ["3 exact tool.py:Tool.use"] == edges(made, "a.py", "f")


def test_returned_values_are_followed_where_nothing_is_declared(graph, edges):
    """Without an annotation a function returns what its `return`s say; unknown ones make it possible."""
    made = graph(
        tool(
            """
            def sure():
                return Tool()
            def unsure(x):
                if x:
                    return Tool()
                return x
            def go():
                sure().use()
                unsure(1).use()
            """
        )
    )
    assert [
        "9 exact sure",
        "9 exact tool.py:Tool.use",
        "10 exact unsure",
        "10 possible tool.py:Tool.use",
    ] == edges(made, "a.py", "go")


def test_async_results_are_awaited(graph, edges):
    """`await` gives what the coroutine returns."""
    made = graph(
        tool(
            """
            async def fetch() -> Tool: ...
            async def go():
                x = await fetch()
                x.use()
                y = fetch()
                y.use()
            """
        )
    )
    assert [
        "4 exact fetch",
        "5 exact tool.py:Tool.use",
        "6 exact fetch",
    ] == [words for words in edges(made, "a.py", "go") if "exact" in words]


def test_self_returning_methods_keep_the_subclass(graph, edges):
    """`return self` and `-> Self` give the receiver, not just the class that defines the method."""
    made = graph(
        {
            "a.py": """\
                from typing import Self
                class Base:
                    def one(self): return self
                    def two(self) -> Self: ...
                class Sub(Base):
                    def only(self): pass
                def f():
                    Sub().one().two().only()
                """
        }
    )
    assert ["8 exact Base.one", "8 exact Base.two", "8 exact Sub", "8 exact Sub.only"] == edges(
        made, "a.py", "f"
    )


def test_what_lies_outside_is_named_or_unresolved_but_never_guessed(graph, edges):
    """An external class's method is external; what an external function returns is not known."""
    made = graph(
        {
            "a.py": """\
                import os
                from collections import deque
                from torch import nn

                def f(m: nn.Module, anything):
                    m.train()
                    deque().append(1)
                    os.path.join("a").upper()
                    anything.run()
                    m.weight.copy_()
                """
        }
    )
    assert [
        "6 external torch.nn.Module.train",
        "7 external collections.deque",
        "7 external collections.deque.append",
        "8 external os.path.join",
        "8 unresolved os.path.join().upper",
        "9 unresolved anything.run",
        "10 unresolved m.weight.copy_",
    ] == edges(made, "a.py", "f", external=True)
    reasons = {edge.callee: edge.reason for edge in made.edges_from("a.py", "f") if edge.how == "unresolved"}
    assert reasons["anything.run"] == "parameter `anything` has no annotation"


def test_a_class_that_is_tested_for_is_possible(graph, edges):
    """`isinstance` makes the methods of the class possible where the declared type says nothing of them."""
    made = graph(
        tool(
            """
            def f(x, y: Other):
                if isinstance(x, Tool):
                    x.use()
                if isinstance(y, Tool):
                    y.use()
                x.use()
            """
        )
    )
    assert [
        "4 possible tool.py:Tool.use",
        "6 exact tool.py:Other.use",
        "7 possible tool.py:Tool.use",
    ] == edges(made, "a.py", "f")

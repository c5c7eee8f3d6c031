"""What an attribute of an object is known to be: by constructors, annotations, parameters and fields."""

from __future__ import annotations

from .tool import tool


def test_attributes_by_constructor_annotation_and_parameter(graph, edges):
    """`self.x` is what any method binds it to: an instance, an annotated parameter, or its own annotation."""
    made = graph(
        tool(
            """
            class A:
                level: Tool
                def __init__(self, given: Tool, plain):
                    self.made = Tool()
                    self.given = given
                    self.declared: "Tool" = plain
                    self.plain = plain
                    self.several = [Tool()]
                def go(self):
                    self.made.use()
                    self.given.use()
                    self.declared.use()
                    self.plain.use()
                    self.level.use()
                    self.several[0].use()
            """
        )
    )
    assert [
        "11 exact tool.py:Tool.use",
        "12 exact tool.py:Tool.use",
        "13 exact tool.py:Tool.use",
        "14 unresolved self.plain.use",
        "15 exact tool.py:Tool.use",
        "16 exact tool.py:Tool.use",
    ] == edges(made, "a.py", "A.go")


def test_an_attribute_bound_twice_is_possible(graph, edges):
    """Two types for one attribute give two possible edges; `None` beside a type changes nothing."""
    made = graph(
        tool(
            """
            class A:
                def __init__(self):
                    self.x = None
                    self.y = None
                def one(self):
                    self.x = Tool()
                    self.y = Tool()
                def two(self):
                    self.y = Other()
                def go(self):
                    self.x.use()
                    self.y.use()
            """
        )
    )
    assert [
        "12 exact tool.py:Tool.use",
        "13 possible tool.py:Other.use",
        "13 possible tool.py:Tool.use",
    ] == edges(made, "a.py", "A.go")


def test_a_later_assignment_is_read_in_the_method_that_makes_it(graph, edges):
    """Where two methods have a parameter of one name, its type in the wrong method is not believed."""
    made = graph(
        tool(
            """
            class A:
                def __init__(self, x: Tool):
                    self.x = x
                def swap(self, y: Other):
                    self.x = y
                def other(self, y: Tool): pass
                def go(self):
                    self.x.use()
            """
        )
    )
    assert ["9 possible tool.py:Tool.use"] == edges(made, "a.py", "A.go")


def test_dataclass_fields_are_attributes(graph, edges):
    """Annotated fields and default factories give the type of the attribute; making one is the class."""
    made = graph(
        tool(
            """
            from dataclasses import dataclass, field
            @dataclass
            class Box:
                tool: Tool
                more: list[Tool] = field(default_factory=list)
                spare = field(default_factory=Tool)
                def go(self):
                    self.tool.use()
                    for one in self.more:
                        one.use()
                    self.spare.use()
            def f():
                Box(Tool()).tool.use()
            """
        )
    )
    assert [
        "9 exact tool.py:Tool.use",
        "11 exact tool.py:Tool.use",
        "12 exact tool.py:Tool.use",
    ] == edges(made, "a.py", "Box.go")
    assert ["14 exact Box", "14 exact tool.py:Tool", "14 exact tool.py:Tool.use"] == edges(made, "a.py", "f")

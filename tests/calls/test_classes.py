"""Calls through classes: method resolution order, `super()`, properties, class methods, nested classes."""

from __future__ import annotations

DIAMOND = """\
    class Top:
        def run(self):
            pass

    class Left(Top):
        def run(self):
            super().run()

    class Right(Top):
        def run(self):
            super().run()

    class Bottom(Left, Right):
        def run(self):
            super().run()

        def own(self):
            self.run()
    """


def test_super_follows_the_order_of_the_class_and_names_what_a_diamond_puts_between(graph, edges):
    """`super()` is exact for the class itself; the sibling that a subclass puts next is possible."""
    made = graph({"a.py": DIAMOND})
    assert ["7 exact Top.run", "7 possible Right.run"] == edges(made, "a.py", "Left.run")
    assert ["11 exact Top.run"] == edges(made, "a.py", "Right.run")
    assert ["15 exact Left.run"] == edges(made, "a.py", "Bottom.run")
    assert ["18 exact Bottom.run"] == edges(made, "a.py", "Bottom.own")


def test_the_order_is_pythons_own(graph):
    """The resolution order of a diamond is that of the class when Python builds it."""
    made = graph({"a.py": DIAMOND})
    scope: dict[str, type] = {}
    exec("\n".join(line[4:] for line in DIAMOND.splitlines()), scope)
    expected = [one.__name__ for one in scope["Bottom"].__mro__ if one is not object]
    assert expected == [place.qualname for place in made.mro("a.py", "Bottom")]
    assert [("a.py", "Left"), ("a.py", "Right")] == list(made.bases("a.py", "Bottom"))
    assert [("a.py", "Left"), ("a.py", "Right")] == list(made.subclasses("a.py", "Top"))
    assert {("a.py", "Left"), ("a.py", "Right"), ("a.py", "Bottom")} == set(made.descendants("a.py", "Top"))


def test_bases_that_contradict_each_other_or_themselves_do_not_crash(graph, edges):
    """An impossible order and a class that is its own base give only possible edges, or none."""
    made = graph(
        {
            "a.py": """\
                class A:
                    def f(self): pass
                class B(A): pass
                class C(A, B):
                    def go(self):
                        self.f()
                class Loop(Loop):
                    def go(self):
                        self.f()
                class X(Y): pass
                class Y(X):
                    def go(self):
                        self.f()
                """
        }
    )
    assert ["6 possible A.f"] == edges(made, "a.py", "C.go")
    assert ["9 unresolved self.f"] == edges(made, "a.py", "Loop.go")
    assert ["13 unresolved self.f"] == edges(made, "a.py", "Y.go")


def test_an_override_is_possible_unless_the_object_is_made_on_the_spot(graph, edges):
    """A parameter of a base type may be any subclass; what a constructor just made is that class."""
    made = graph(
        {
            "a.py": """\
                class Base:
                    def run(self): pass
                class Sub(Base):
                    def run(self): pass
                class SubSub(Sub):
                    def run(self): pass

                def by_annotation(x: Base):
                    x.run()

                def by_constructor():
                    x = Base()
                    x.run()
                """
        }
    )
    assert ["9 exact Base.run", "9 possible Sub.run", "9 possible SubSub.run"] == edges(
        made, "a.py", "by_annotation"
    )
    assert ["12 exact Base", "13 exact Base.run"] == edges(made, "a.py", "by_constructor")
    assert [("a.py", "Sub.run"), ("a.py", "SubSub.run")] == list(made.overrides("a.py", "Base.run"))


def test_a_constructor_leads_to_the_init_that_runs(graph):
    """Making an instance runs the inherited `__init__`; the edge says of which class the instance is."""
    made = graph(
        {
            "base.py": "class Base:\n    def __init__(self): pass\n",
            "a.py": "from base import Base\nclass Sub(Base): pass\nclass Bare: pass\nSub()\nBare()\n",
        }
    )
    sub, bare = made.edges_from("a.py")
    assert ("base.py", "Base.__init__", "Sub") == (sub.callee_path, sub.callee, sub.constructs)
    assert ("a.py", "Bare", "Bare") == (bare.callee_path, bare.callee, bare.constructs)


def test_properties_run_when_they_are_read(graph, edges):
    """Reading a property is an edge of the form `read`, and its result is followed."""
    made = graph(
        {
            "a.py": """\
                class Wheel:
                    def turn(self): pass
                class Car:
                    @property
                    def wheel(self) -> Wheel:
                        return Wheel()
                    @wheel.setter
                    def wheel(self, value): pass
                    def drive(self):
                        self.wheel.turn()
                        return self.wheel

                def plain():
                    return Car.wheel
                """
        }
    )
    assert ["10 exact Car.wheel", "10 exact Wheel.turn", "11 exact Car.wheel"] == edges(
        made, "a.py", "Car.drive"
    )
    assert ["read", "call", "read"] == [edge.form for edge in made.edges_from("a.py", "Car.drive")]
    assert [] == edges(made, "a.py", "plain")


def test_class_methods_and_static_methods(graph, edges):
    """`cls` is the class or a subclass; a static method has no receiver; `cls()` makes an instance."""
    made = graph(
        {
            "a.py": """\
                class A:
                    @classmethod
                    def make(cls):
                        cls.check(1)
                        return cls()
                    @staticmethod
                    def check(self):
                        self.make()
                    def go(self): pass

                def f():
                    A.make().go()
                    A.check(2)
                """
        }
    )
    assert ["4 exact A.check", "5 exact A"] == edges(made, "a.py", "A.make")
    assert ["8 unresolved self.make"] == edges(made, "a.py", "A.check")
    assert ["12 exact A.go", "12 exact A.make", "13 exact A.check"] == edges(made, "a.py", "f")


def test_nested_classes_and_functions(graph, edges):
    """A nested class is reached through its owner, a nested function only from within; no class scope."""
    made = graph(
        {
            "a.py": """\
                def helper(): pass

                class Outer:
                    def helper(self): pass
                    class Inner:
                        def run(self, outer: "Outer"):
                            outer.helper()
                            helper()
                    def go(self):
                        def helper():
                            inner()
                        def inner(): pass
                        helper()
                        self.Inner().run(self)
                        Outer.Inner().run(self)
                """
        }
    )
    assert ["7 exact Outer.helper", "8 exact helper"] == edges(made, "a.py", "Outer.Inner.run")
    assert ["11 exact Outer.go.inner"] == edges(made, "a.py", "Outer.go.helper")
    assert [
        "13 exact Outer.go.helper",
        "14 exact Outer.Inner",
        "14 exact Outer.Inner.run",
        "15 exact Outer.Inner",
        "15 exact Outer.Inner.run",
    ] == edges(made, "a.py", "Outer.go")


def test_a_base_from_outside_gets_what_the_repository_does_not_define(graph, edges):
    """An inherited external method is external by its name; one behind an external base is only possible."""
    made = graph(
        {
            "a.py": """\
                import torch.nn as nn

                class Mixin:
                    def shared(self): pass

                class Net(nn.Module, Mixin):
                    def __init__(self):
                        super().__init__()
                        self.register_buffer("x", None)
                        self.shared()
                """
        }
    )
    assert [
        "8 external torch.nn.Module.__init__",
        "9 external torch.nn.Module.register_buffer",
        "10 possible Mixin.shared",
    ] == edges(made, "a.py", "Net.__init__", external=True)


def test_calling_a_module_reaches_its_forward(graph, edges):
    """An instance whose `__call__` comes from outside runs the `forward` of its class; the edge says so."""
    made = graph(
        {
            "a.py": """\
                from torch import nn
                class MLP(nn.Module):
                    def forward(self, x):
                        return x
                class Net(nn.Module):
                    def __init__(self):
                        self.mlp = MLP()
                    def forward(self, x):
                        return self.mlp(x)
                """
        }
    )
    assert ["9 registry MLP.forward"] == edges(made, "a.py", "Net.forward")
    (edge,) = made.edges_from("a.py", "Net.forward")
    assert edge.reason == "`torch.nn.Module.__call__` calls `forward`"


def test_a_mixin_calls_what_its_users_have(graph, edges):
    """A method that only subclasses define is possible; one that nobody defines is unresolved."""
    made = graph(
        {
            "a.py": """\
                class Mixin:
                    def go(self):
                        self.hook()
                        self.nobody()
                class User(Mixin):
                    def hook(self): pass
                """
        }
    )
    assert ["3 possible User.hook", "4 unresolved self.nobody"] == edges(made, "a.py", "Mixin.go")

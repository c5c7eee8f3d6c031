"""Registries filled by decorators: what they hold is called as `registry`, and nothing is invented."""

from __future__ import annotations

BY_CLASS = """\
    class Base:
        def run(self): pass

    class Runner:
        _kinds: list[type[Base]] = []

        @classmethod
        def register(cls, kind):
            cls._kinds.append(kind)
            return kind

        def go(self):
            for kind in self._kinds:
                kind().run()

    @Runner.register
    class One(Base):
        def run(self): pass

    @Runner.register
    class Two(Base): pass
    """


def test_classes_that_a_decorator_appends(graph, edges):
    """Making what a registry holds makes every registered class, and runs the method that each has."""
    made = graph({"a.py": BY_CLASS})
    assert [
        "14 registry Base.run",
        "14 registry One",
        "14 registry One.run",
        "14 registry Two",
    ] == edges(made, "a.py", "Runner.go")


def test_functions_that_a_decorator_factory_stores_by_key(graph, edges):
    """A factory's inner function stores what it decorates; looking the container up finds it."""
    made = graph(
        {
            "reg.py": """\
                TABLE = {}

                def register(name):
                    def keep(function):
                        TABLE[name] = function
                        return function
                    return keep

                def call(name):
                    return TABLE[name]()

                def each():
                    for name, function in TABLE.items():
                        function()
                """,
            "one.py": "from reg import register\n@register('one')\ndef one(): pass\n",
            "two.py": "import reg\n@reg.register('two')\ndef two(): pass\ndef unregistered(): pass\n",
        }
    )
    assert ["10 registry one.py:one", "10 registry two.py:two"] == edges(made, "reg.py", "call")
    assert ["14 registry one.py:one", "14 registry two.py:two"] == edges(made, "reg.py", "each")


def test_two_registries_of_one_class_are_not_mixed(graph, edges):
    """Where two objects of one class hold registrations, nothing tells them apart: no edge is invented."""
    made = graph(
        {
            "a.py": """\
                class Registry:
                    def __init__(self):
                        self.held = {}
                    def register(self, thing):
                        self.held[thing.__name__] = thing
                        return thing
                    def call(self, name):
                        return self.held[name]()
                first = Registry()
                second = Registry()
                @first.register
                def one(): pass
                @second.register
                def two(): pass
                """
        }
    )
    assert ["8 unresolved self.held[]"] == edges(made, "a.py", "Registry.call")


def test_one_registry_object_is_followed(graph, edges):
    """With a single object of the class its registrations are known."""
    made = graph(
        {
            "a.py": """\
                class Registry:
                    def __init__(self):
                        self.held = []
                    def register(self, thing):
                        self.held.append(thing)
                        return thing
                    def call(self):
                        for thing in self.held:
                            thing()
                only = Registry()
                @only.register
                def one(): pass
                """
        }
    )
    assert ["9 registry one"] == edges(made, "a.py", "Registry.call")


def test_a_decorator_that_stores_nothing_is_no_registry(graph, edges):
    """A wrapper does not register; a container filled otherwise stays unknown."""
    made = graph(
        {
            "a.py": """\
                table = []
                def wrap(f):
                    return f
                @wrap
                def one(): pass
                def go():
                    for f in table:
                        f()
                """
        }
    )
    assert ["8 unresolved f"] == edges(made, "a.py", "go")

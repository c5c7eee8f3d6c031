"""Names that hide others: a local, a parameter or a loop variable is never taken for a global."""

from __future__ import annotations

import pytest

GLOBALS = "def run(): pass\nclass Node:\n    def id(self): pass\nnode = Node()\n"


@pytest.mark.parametrize(
    "body",
    [
        "def f(run):\n    run()",
        "def f(*run):\n    run()",
        "def f():\n    run = thing()\n    run()",
        "def f():\n    for run in things():\n        run()",
        "def f():\n    with opened() as run:\n        run()",
        "def f():\n    try:\n        pass\n    except E as run:\n        run()",
        "def f():\n    [run() for run in things()]",
        "def f():\n    {run: run() for run, _ in things()}",
        "def f():\n    return lambda run: run()",
        "def f():\n    a, (run, *b) = things()\n    run()",
        "def f():\n    a, *run = things()\n    run()",
        "def f():\n    if (run := thing()):\n        run()",
        "def f():\n    import run\n    run()",
        "def f():\n    from elsewhere import run\n    run()",
        "def f(run):\n    def f2():\n        run()\n    f2()",
        "def f():\n    match thing():\n        case [run, *_]:\n            run()",
        "def f():\n    match thing():\n        case {'k': run}:\n            run()",
        "def f(node):\n    node.id()",
        "def f():\n    node = thing()\n    node.id()",
        "def f():\n    for node in things():\n        node.id()",
        "def f():\n    any(node.id() for node in things())",
        "def f():\n    sorted(things(), key=lambda node: node.id())",
        "def f(Node):\n    Node().id()",
    ],
)
def test_a_name_bound_in_the_function_is_not_the_global(graph, edges, body):
    """No edge leads to the global `run`, `node` or `Node` where the function binds that name itself."""
    made = graph({"a.py": f"{GLOBALS}{body}\n"})
    names = [name for name in ("f", "f.f2") if made.definition("a.py", name)]
    found = [words for name in names for words in edges(made, "a.py", name)]
    unwanted = ("run", "Node", "Node.id")
    assert [] == [words for words in found if "unresolved" not in words and words.split()[-1] in unwanted]


def test_a_local_of_another_function_hides_nothing(graph, edges):
    """The same name bound in a neighbour leaves the global what it is."""
    made = graph({"a.py": f"{GLOBALS}def g(run):\n    run()\ndef f():\n    run()\n    node.id()\n"})
    assert ["8 exact run", "9 exact Node.id"] == edges(made, "a.py", "f")


def test_class_scope_is_not_seen_by_methods(graph, edges):
    """A name in a class body is no name in its methods; the class body itself sees it."""
    made = graph(
        {
            "a.py": """\
                def run(): pass
                class A:
                    def run(self): pass
                    def go(self):
                        run()
                    run(None)
                """
        }
    )
    assert ["5 exact run"] == edges(made, "a.py", "A.go")
    assert ["6 exact A.run"] == edges(made, "a.py", "A")


def test_a_builtin_that_the_module_redefines_is_the_modules(graph, edges):
    """`print` of the module wins over the builtin; an untouched builtin is external."""
    made = graph({"a.py": "def print(*a): pass\ndef f():\n    print(1)\n    len([])\n"})
    assert ["3 exact print", "4 external builtins.len"] == edges(made, "a.py", "f", external=True)


def test_the_last_of_two_definitions_counts(graph):
    """Of definitions of one name the last is what runs; overloads are passed over."""
    made = graph(
        {
            "a.py": """\
                from typing import overload
                @overload
                def f(x: int) -> int: ...
                @overload
                def f(x: str) -> str: ...
                def f(x):
                    return x
                f(1)
                """
        }
    )
    definition = made.definition("a.py", "f")
    assert definition is not None
    assert 6 == definition.span.start


def test_a_decorator_is_called_where_it_stands_not_by_the_function(graph, edges):
    """The module calls the decorator and the function that its call returns; the decorated one does not."""
    made = graph(
        {
            "a.py": """\
                def plain(f):
                    return f
                def maker(n):
                    def inner(f):
                        return f
                    return inner

                @plain
                @maker(3)
                def work(x=plain(1)):
                    pass
                work()
                """
        }
    )
    assert [
        "8 exact plain",
        "9 exact maker",
        "9 exact maker.inner",
        "10 exact plain",
        "12 exact work",
    ] == edges(made, "a.py")
    assert [] == edges(made, "a.py", "work")


def test_rebinding_a_name_keeps_every_possibility(graph, edges):
    """A local assigned twice may be either; neither edge claims to be exact."""
    made = graph(
        {
            "a.py": """\
                class A:
                    def go(self): pass
                class B:
                    def go(self): pass
                def f(c):
                    x = A()
                    if c:
                        x = B()
                    x.go()
                """
        }
    )
    assert ["9 possible A.go", "9 possible B.go"] == [
        words for words in edges(made, "a.py", "f") if words.endswith("go")
    ]


def test_recursive_bindings_end(graph, edges):
    """A value defined by itself adds nothing and does not hang."""
    made = graph(
        {
            "a.py": """\
                class Node:
                    def next(self):
                        return self
                    def end(self): pass
                def f():
                    x = Node()
                    while x:
                        x = x.next()
                    x.end()
                def g():
                    return g()
                def h():
                    g().anything()
                y = y
                y()
                """
        }
    )
    assert "9 exact Node.end" in edges(made, "a.py", "f")
    assert ["13 exact g", "13 unresolved g().anything"] == edges(made, "a.py", "h")
    assert ["15 unresolved y"] == edges(made, "a.py")

"""Names across files: re-exports, wildcards, cycles, aliases, conditional imports, relative imports."""

from __future__ import annotations

PACKAGE = {
    "pkg/__init__.py": """\
        from .engine import Engine as Motor
        from .engine import start
        from . import parts
        """,
    "pkg/engine.py": """\
        class Engine:
            def run(self):
                pass

        def start():
            return Engine()
        """,
    "pkg/parts/__init__.py": """\
        from .wheel import *
        __all__ = ["Wheel", "turn"]
        """,
    "pkg/parts/wheel.py": """\
        __all__ = ["Wheel", "turn"]

        class Wheel:
            def roll(self): pass

        def turn(): pass

        def hidden(): pass
        """,
}


def test_reexports_lead_to_where_a_name_is_defined(graph, edges):
    """A name imported from a package is followed through its `__init__` to the definition."""
    user = {
        "user.py": """\
            import pkg
            from pkg import Motor, start as begin
            import pkg.parts.wheel as w
            from pkg.parts import turn

            def go():
                Motor().run()
                pkg.start()
                begin().run()
                pkg.parts.turn()
                w.hidden()
                turn()
                pkg.Motor().run()
            """
    }
    made = graph(PACKAGE | user)
    assert [
        "7 exact pkg/engine.py:Engine",
        "7 exact pkg/engine.py:Engine.run",
        "8 exact pkg/engine.py:start",
        "9 exact pkg/engine.py:Engine.run",
        "9 exact pkg/engine.py:start",
        "10 exact pkg/parts/wheel.py:turn",
        "11 exact pkg/parts/wheel.py:hidden",
        "12 exact pkg/parts/wheel.py:turn",
        "13 exact pkg/engine.py:Engine",
        "13 exact pkg/engine.py:Engine.run",
    ] == edges(made, "user.py", "go")


def test_a_wildcard_brings_only_what_is_exported(graph, edges):
    """`from x import *` brings the names in `__all__`, or the public ones; another name stays unresolved."""
    user = {
        "user.py": """\
            from pkg.parts.wheel import *
            from plain import *

            def go():
                turn()
                hidden()
                visible()
                _private()
            """,
        "plain.py": "def visible(): pass\ndef _private(): pass\n",
    }
    made = graph(PACKAGE | user)
    assert [
        "5 exact pkg/parts/wheel.py:turn",
        "6 unresolved hidden",
        "7 exact plain.py:visible",
        "8 unresolved _private",
    ] == edges(made, "user.py", "go")


def test_a_wildcard_from_outside_makes_unknown_names_unsure_and_says_so(graph, edges):
    """What may come from an external wildcard import is unresolved, and says why; builtins stay so."""
    made = graph({"a.py": "from numpy import *\ndef f():\n    zeros(3)\n    len([])\n"})
    assert ["3 unresolved zeros", "4 external builtins.len"] == edges(made, "a.py", "f", external=True)
    (edge,) = [edge for edge in made.edges_from("a.py", "f") if edge.how == "unresolved"]
    assert edge.reason == "`zeros` may come from `numpy` by a wildcard import"


def test_cyclic_imports_end(graph, edges):
    """Modules that import each other resolve each other's functions; a name that only cycles ends."""
    made = graph(
        {
            "a.py": "from b import g, ghost\ndef f():\n    g()\n    ghost()\n",
            "b.py": "from a import f, ghost\ndef g():\n    f()\n",
        }
    )
    assert ["3 exact b.py:g", "4 unresolved ghost"] == edges(made, "a.py", "f")
    assert ["3 exact a.py:f"] == edges(made, "b.py", "g")


def test_a_conditional_import_is_only_possible(graph, edges):
    """Where `try` and `except` import a name from two modules, both are possible."""
    made = graph(
        {
            "fast.py": "def f(): pass\n",
            "slow.py": "def f(): pass\n",
            "user.py": """\
                try:
                    from fast import f
                except ImportError:
                    from slow import f

                def go():
                    f()
                """,
        }
    )
    assert ["7 possible fast.py:f", "7 possible slow.py:f"] == edges(made, "user.py", "go")


def test_a_fallback_definition_stands_beside_the_import(graph, edges):
    """An import in `try` and a definition in `except` are both possible."""
    made = graph(
        {
            "fast.py": "def f(): pass\n",
            "user.py": """\
                try:
                    from fast import f
                except ImportError:
                    def f():
                        pass
                f()
                """,
        }
    )
    assert ["6 possible f", "6 possible fast.py:f"] == edges(made, "user.py")


def test_imports_within_a_function_bind_there_only(graph, edges):
    """A local import serves its function; the same name elsewhere is the module's."""
    made = graph(
        {
            "one.py": "def f(): pass\n",
            "two.py": "def f(): pass\n",
            "user.py": """\
                from one import f

                def local():
                    from two import f
                    f()

                def outer():
                    f()
                """,
        }
    )
    assert ["5 exact two.py:f"] == edges(made, "user.py", "local")
    assert ["8 exact one.py:f"] == edges(made, "user.py", "outer")


def test_relative_imports_climb(graph, edges):
    """Dots climb from the file's package; too many dots are unresolved, not an error."""
    made = graph(
        {
            "p/__init__.py": "",
            "p/top.py": "def t(): pass\n",
            "p/q/__init__.py": "def inside(): pass\n",
            "p/q/deep.py": """\
                from ..top import t
                from .. import top
                from . import inside
                from .... import nothing

                def f():
                    t()
                    top.t()
                    inside()
                    nothing()
                """,
        }
    )
    assert [
        "7 exact p/top.py:t",
        "8 exact p/top.py:t",
        "9 exact p/q/__init__.py:inside",
        "10 unresolved nothing",
    ] == edges(made, "p/q/deep.py", "f")


def test_the_import_graph_names_the_files_that_are_read(graph):
    """`imports_of` leads to the module that holds a name, or the submodule that the name is."""
    made = graph(
        PACKAGE
        | {"user.py": "import os, pkg.engine\nfrom pkg import parts, Motor\nfrom pkg.parts import wheel\n"}
    )
    assert (
        "pkg/engine.py",
        "pkg/parts/__init__.py",
        "pkg/__init__.py",
        "pkg/parts/wheel.py",
    ) == made.imports_of("user.py")
    assert ("pkg/__init__.py", "user.py") == made.imported_by("pkg/engine.py")
    assert ("pkg/parts/wheel.py",) == made.imports_of("pkg/parts/__init__.py")


def test_a_package_attribute_hides_its_submodule(graph, edges):
    """`from .trace import trace` in a package makes `package.trace` the function, not the module."""
    made = graph(
        {
            "p/__init__.py": "from .trace import trace\n",
            "p/trace.py": "def trace(): pass\ndef other(): pass\n",
            "user.py": "import p\nfrom p.trace import other\np.trace()\nother()\n",
        }
    )
    assert ["3 exact p/trace.py:trace", "4 exact p/trace.py:other"] == edges(made, "user.py")


def test_a_script_finds_its_neighbour(graph, edges):
    """In a folder that is no package, `import sibling` means the file beside."""
    made = graph({"tools/run.py": "import lib\nlib.f()\n", "tools/lib.py": "def f(): pass\n"})
    assert ["2 exact tools/lib.py:f"] == edges(made, "tools/run.py")


def test_resolve_says_which_definition_a_dotted_name_means(graph):
    """Dotted names resolve through imports to places; unknown and ambiguous ones to None."""
    made = graph(PACKAGE)
    assert ("pkg/engine.py", "Engine") == made.resolve("pkg/__init__.py", "Motor")
    assert ("pkg/engine.py", "Engine.run") == made.resolve("pkg/__init__.py", "Motor.run")
    assert ("pkg/parts/__init__.py", "") == made.resolve("pkg/__init__.py", "parts")
    assert made.resolve("pkg/__init__.py", "nothing.here") is None
    assert made.resolve("no/such.py", "x") is None
    assert made.resolve("pkg/__init__.py", "not an expression (") is None

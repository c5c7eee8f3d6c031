"""Whatever a repository holds, the graph is made, ends, and says the same in any order."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import forwardbook
from forwardbook.analyzers.calls import Graph
from forwardbook.analyzers.index.facts import Repository
from forwardbook.analyzers.index.python import index_python

HERE = Path(forwardbook.__file__).parent / "analyzers"


def repository(*folders: str) -> Repository:
    """The facts of some of this project's own rooms."""
    files = {}
    for folder in folders:
        for path in sorted((HERE / folder).glob("*.py")):
            module = f"forwardbook.analyzers.{folder}.{path.stem}".removesuffix(".__init__")
            files[f"{folder}/{path.name}"] = index_python(f"{folder}/{path.name}", path.read_bytes(), module)
    return Repository("/nowhere", files)


@pytest.fixture(scope="module")
def rooms() -> Repository:
    """The rooms of the index and of the calls themselves."""
    return repository("index", "calls")


def test_the_order_of_questions_changes_no_answer(rooms):
    """Asking for definitions in any order gives the edges that asking in order gives."""
    whole = Graph(rooms)
    expected = whole.every_edge()
    places = [(path, one.qualname) for path, facts in rooms.files.items() for one in facts.definitions]
    random.Random(7).shuffle(places)
    other = Graph(rooms)
    for path, qualname in places:
        other.edges_from(path, qualname)
    assert expected == other.every_edge()


def test_every_edge_stands_on_a_line_of_its_caller_and_leads_to_a_definition(rooms):
    """Lines lie within the caller's span, and callees of the repository exist."""
    made = Graph(rooms)
    for edge in made.every_edge():
        callers = made.resolver.file(edge.path).definitions.get(edge.caller, [])
        assert not edge.caller or any(edge.line in one.decorated for one in callers), edge
        assert not edge.callee_path or made.definition(edge.callee_path, edge.callee) is not None, edge
        assert edge.how in ("exact", "registry") or edge.reason or edge.how == "external", edge


def test_calls_that_really_happen_are_found(rooms):
    """Of the calls between functions of these rooms that a run makes, most are edges of the graph."""
    seen: set[tuple[str, str, str, str]] = set()
    names = {str((HERE / path).resolve()): path for path in rooms.files}

    def note(frame, event, _argument):
        if event != "call" or frame.f_back is None:
            return
        caller, callee = frame.f_back.f_code, frame.f_code
        ends = (
            names.get(str(Path(caller.co_filename).resolve())),
            names.get(str(Path(callee.co_filename).resolve())),
        )
        if None in ends or "<" in callee.co_qualname.replace(".<locals>", "") or "__" in callee.co_name:
            return
        start = caller.co_qualname.replace(".<locals>", "").partition(".<")[0]
        seen.add((ends[0], start, ends[1], callee.co_qualname.replace(".<locals>", "")))

    small = Repository("/nowhere", {"a.py": index_python("a.py", b"class A:\n def f(self): self.f()\n", "a")})
    sys.setprofile(note)
    try:
        index_python("b.py", b"import a\n@a.A\nclass B(a.A):\n x: int = 1\n def g(self): super().f()\n", "b")
        Graph(small).every_edge()
    finally:
        sys.setprofile(None)
    made = Graph(rooms)
    edges = {
        (path, qualname, edge.callee_path, edge.callee)
        for path, qualname in {(one[0], one[1]) for one in seen}
        for edge in made.edges_from(path, qualname)
    }
    assert len(seen) > 100
    assert len(seen & edges) / len(seen) > 0.9, sorted(seen - edges)


@pytest.mark.parametrize(
    "text",
    [
        "@" + "(" * 80 + "f" + ")" * 80 + "\ndef g(): pass\n",
        "x: " + " | ".join(f"A{number}" for number in range(3000)) + "\ndef g():\n    x.f()\n",
        "".join(f"class A{number + 1}(A{number}): pass\n" for number in range(2000)) + "A2000().f()\n",
        "".join(f"class A{n}(A{n + 1}, A{n + 2}): pass\n" for n in range(60)) + "A0().f()\n",
        "".join(f"x{number} = x{number + 1}.a()\n" for number in range(500)) + "x0.b()\n",
        "".join(f"def f{n}(): return f{(n * 7 + 1) % 50}().a or f{(n * 3 + 2) % 50}()\n" for n in range(50))
        + "f0().b()\n",
        "class A(A): pass\nclass B(A, A, 3, 'x', f()): pass\nB().f()\n",
        "from . import *\nfrom .. import x\nfrom ... import *\nimport\n",
        "",
    ],
)
def test_nasty_sources_end(text):
    """Deep nests, long chains, lattices and cycles of classes and functions end in edges or reasons."""
    facts = index_python("p/a.py", text.encode(), "p.a")
    assert all(edge.line > 0 for edge in Graph(Repository("/nowhere", {"p/a.py": facts})).every_edge())


NAMES = st.sampled_from(["a", "b", "C", "D", "self", "x"])
EXPRESSIONS = st.recursive(
    NAMES,
    lambda inner: st.one_of(
        st.tuples(inner, NAMES).map(lambda two: f"{two[0]}.{two[1]}"),
        inner.map(lambda one: f"{one}()"),
        inner.map(lambda one: f"{one}[0]"),
        inner.map(lambda one: f"[{one}]"),
        st.tuples(inner, inner).map(lambda two: f"({two[0]} or {two[1]})"),
        st.tuples(inner, NAMES, inner).map(lambda three: f"[{three[0]} for {three[1]} in {three[2]}]"),
    ),
    max_leaves=6,
)
STATEMENTS = st.one_of(
    st.tuples(NAMES, EXPRESSIONS).map(lambda two: f"{two[0]} = {two[1]}"),
    st.tuples(NAMES, EXPRESSIONS).map(lambda two: f"self.{two[0]} = {two[1]}"),
    EXPRESSIONS.map(lambda one: f"{one}()"),
    EXPRESSIONS.map(lambda one: f"return {one}"),
    st.tuples(NAMES, EXPRESSIONS).map(lambda two: f"for {two[0]} in {two[1]}: {two[0]}.{two[0]}()"),
)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(NAMES, NAMES, st.lists(STATEMENTS, min_size=1, max_size=4)), min_size=1, max_size=6)
)
def test_random_classes_give_the_same_edges_in_any_order(classes):
    """Random classes that refer to each other never crash, and no answer depends on what was asked before."""
    text = "".join(
        f"class {name.upper()}({base.upper()}):\n    def {name}(self, b, x: {base.upper()}):\n"
        + "".join(f"        {line}\n" for line in lines)
        for name, base, lines in classes
    )
    files = {"m.py": index_python("m.py", text.encode(), "m")}
    forward, backward = Graph(Repository("/", files)), Graph(Repository("/", files))
    for definition in reversed(files["m.py"].definitions):
        backward.edges_from("m.py", definition.qualname)
    assert forward.every_edge() == backward.every_edge()

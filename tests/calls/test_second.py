"""A second resolver beside our own: what its answers become, and how the two are put together."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from forwardbook.analyzers.calls.second import Target
from forwardbook.workspace.ty_server import TyServer, ty_command

SOURCE = dedent("""\
    class Tool:
        def __init__(self):
            pass
        @property
        def part(self):
            return self
        def use(self):
            pass

    def go(tool):
        tool.use()
        tool.part
        print(Tool())
    """)


def answers(path, data, positions):
    """What a type checker might say: the lines of `use`, `part` and `Tool`, and where `print` is."""
    lines = {"use": 7, "part": 5, "Tool": 1}
    rows = data.decode().split("\n")
    found = []
    for line, column in positions:
        name = rows[line - 1][column:].split("(")[0].strip(").")
        outside = Target("", 1, "builtins.print") if name == "print" else None
        target = Target(path, lines[name]) if name in lines else outside
        found.append((target,) if target else ())
    return found


def read(_path):
    """The bytes of the one file."""
    return SOURCE.encode()


@pytest.mark.parametrize("instead", [True, False])
def test_answers_become_edges(graph, edges, instead):
    """Its answers settle what ours leaves open: methods, constructors, properties and names from outside."""
    made = graph({"a.py": SOURCE})
    assert "11 unresolved tool.use" in edges(made, "a.py", "go")
    made.ask(read, answers, "another", instead=instead)
    assert [
        "11 exact Tool.use",
        "12 exact Tool.part",
        "13 exact Tool.__init__",
        "13 external builtins.print",
    ] == edges(made, "a.py", "go", external=True)
    by_name = {edge.callee: edge for edge in made.edges_from("a.py", "go")}
    assert ("Tool", "read") == (by_name["Tool.__init__"].constructs, by_name["Tool.part"].form)
    assert "found by another" == by_name["Tool.use"].reason


@pytest.mark.skipif(ty_command() is None, reason="ty is not installed")
def test_ty_answers_for_a_folder(tmp_path: Path, graph, edges):
    """The installed `ty` finds across files what a person would, and ends with the block."""
    (tmp_path / "tool.py").write_text("class Tool:\n    def use(self): ...\n\nTOOLS = {'a': Tool()}\n")
    text = "from tool import TOOLS\n\ndef go(fn):\n    s = 'ä'; TOOLS['a'].use(); fn()\n    len([])\n"
    (tmp_path / "a.py").write_text(text, encoding="utf-8")
    made = graph({"a.py": text, "tool.py": (tmp_path / "tool.py").read_text()})
    with TyServer(tmp_path) as server:
        made.ask(lambda path: (tmp_path / path).read_bytes(), server.definitions, "ty", instead=True)
        assert ["4 exact tool.py:Tool.use", "5 external builtins.len"] == edges(
            made, "a.py", "go", external=True
        )

"""Small repositories from source texts, and their edges as words that a person can check."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent

import pytest

from forwardbook.analyzers.calls import Graph
from forwardbook.analyzers.index.facts import Repository
from forwardbook.analyzers.index.python import index_python

MakeGraph = Callable[[dict[str, str]], Graph]
Edges = Callable[..., list[str]]


def graph_of(files: dict[str, str]) -> Graph:
    """The graph of a repository with these files."""
    facts = {}
    for path, text in files.items():
        module = path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
        facts[path] = index_python(path, dedent(text).encode(), module)
    return Graph(Repository("/nowhere", facts))


def edges_of(graph: Graph, path: str, qualname: str = "", *, external: bool = False) -> list[str]:
    """The edges of a definition as `line how callee`, the callee's file before it where it is another."""
    found = []
    for edge in graph.edges_from(path, qualname):
        if edge.how == "external" and not external:
            continue
        away = edge.callee_path and edge.callee_path != path
        callee = f"{edge.callee_path}:{edge.callee}" if away else edge.callee
        found.append(f"{edge.line} {edge.how} {callee}")
    return sorted(found, key=lambda words: (int(words.split()[0]), words))


@pytest.fixture
def graph() -> MakeGraph:
    """Makes the graph of a few source texts."""
    return graph_of


@pytest.fixture
def edges() -> Edges:
    """Says the edges of a definition."""
    return edges_of

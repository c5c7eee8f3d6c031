"""What the tests of the verifier share: a small repository and pages about it, written by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from forwardbook.analyzers.calls import Graph
from forwardbook.analyzers.index.facts import Repository
from forwardbook.analyzers.index.one_file import index_file
from forwardbook.book.mermaid.grammar import Grammar
from forwardbook.book.verify import Sources, Verifier

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def grammar() -> Iterator[Grammar]:
    """Mermaid's own grammar, started once."""
    one = Grammar()
    yield one
    one.close()


@pytest.fixture(scope="session")
def pages() -> dict[str, str]:
    """The pages, under the names that they would have in the repository."""
    return {f"docs/{path.name}": path.read_text(encoding="utf-8") for path in (HERE / "pages").glob("*.md")}


@pytest.fixture(scope="session")
def sources(pages: dict[str, str]) -> Sources:
    """The facts, calls and bytes of the small repository."""
    root = HERE / "repository"
    files = sorted(path for path in root.rglob("*.*") if path.suffix in (".py", ".cu"))
    data = {path.relative_to(root).as_posix(): path.read_bytes() for path in files}
    facts = {path: index_file(path, text, _module(path)) for path, text in data.items()}
    repository = Repository(str(root), facts)
    return Sources(repository, Graph(repository), data.get, pages)


def _module(path: str) -> str:
    stem, dot, suffix = path.rpartition(".")
    return stem.removesuffix("/__init__").replace("/", ".") if dot and suffix == "py" else ""


@pytest.fixture(scope="session")
def verifier(sources: Sources, grammar: Grammar) -> Verifier:
    """The verifier of the small repository."""
    return Verifier(sources, grammar)

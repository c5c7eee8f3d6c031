"""Source of public modules in, the page of the Python interface out: signatures and docstrings, none run."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from forwardbook.book.blocks import Block, Code, Heading, Paragraph
from forwardbook.book.inline import code, marked
from forwardbook.book.page import Page


@dataclass(frozen=True, slots=True)
class PublicModule:
    """A module that users import: the name they use, its names, and the source that defines each of them."""

    name: str
    names: tuple[str, ...]
    sources: tuple[str, ...]


def python_page(modules: Sequence[PublicModule]) -> Page:
    """The page, one section for each module."""
    return Page("python.md", {"title": "Python"}, tuple(_blocks(modules)))


def _blocks(modules: Sequence[PublicModule]) -> Iterator[Block]:
    yield Heading(1, "Python")
    yield Paragraph("What programs may rely on. Signatures and words are those of the source.")
    for module in modules:
        yield Heading(2, code(module.name))
        found: Mapping[str, ast.AST] = {
            name: node for source in module.sources for name, node in _definitions(source)
        }
        for name in module.names:
            node = found.get(name)
            if isinstance(node, ast.FunctionDef):
                yield from _function(node, 3)
            elif isinstance(node, ast.ClassDef):
                yield from _class(node)


def _definitions(source: str) -> Iterator[tuple[str, ast.AST]]:
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name, node


def _class(node: ast.ClassDef) -> Iterator[Block]:
    bases = f"({', '.join(ast.unparse(base) for base in node.bases)})" if node.bases else ""
    yield Heading(3, code(node.name))
    yield Code("python", f"class {node.name}{bases}")
    yield from _words(node)
    fields = [
        f"{each.target.id}: {ast.unparse(each.annotation)}"
        for each in node.body
        if isinstance(each, ast.AnnAssign)
        and isinstance(each.target, ast.Name)
        and not each.target.id.startswith("_")
    ]
    if fields:
        yield Code("python", "\n".join(fields))
    for each in node.body:
        if isinstance(each, ast.FunctionDef) and not each.name.startswith("_"):
            yield from _function(each, 4)


def _function(node: ast.FunctionDef, level: int) -> Iterator[Block]:
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    is_property = any(isinstance(each, ast.Name) and each.id == "property" for each in node.decorator_list)
    shown = (
        f"{node.name}{returns.replace(' -> ', ': ')}"
        if is_property
        else f"def {node.name}({ast.unparse(node.args)}){returns}"
    )
    yield Heading(level, code(node.name))
    yield Code("python", shown)
    yield from _words(node)


def _words(node: ast.FunctionDef | ast.ClassDef) -> Iterator[Block]:
    text = ast.get_docstring(node) or ""
    yield from (Paragraph(marked(part)) for part in text.split("\n\n") if part.strip())

"""The facts of one source file in, its page out; one section per file here, in the order of the page."""

from __future__ import annotations

from typing import Final

from forwardbook.analyzers.detail.facts import Detail, FunctionDetail
from forwardbook.analyzers.index.facts import FileFacts, Span
from forwardbook.analyzers.native.detail import NativeDetail
from forwardbook.book.blocks import Block
from forwardbook.book.page import Page, Value, page_name
from forwardbook.book.pages.architecture import architecture
from forwardbook.book.pages.commands import commands
from forwardbook.book.pages.components import components
from forwardbook.book.pages.concepts import concepts
from forwardbook.book.pages.config_file import config_example, config_metadata, config_summary, keys
from forwardbook.book.pages.configuration import configuration
from forwardbook.book.pages.context import Calls, Context
from forwardbook.book.pages.costs import costs
from forwardbook.book.pages.data_flow import data_flow
from forwardbook.book.pages.error_handling import error_handling
from forwardbook.book.pages.examples import examples
from forwardbook.book.pages.kernels import kernels
from forwardbook.book.pages.kind import status
from forwardbook.book.pages.metadata import metadata, native_metadata
from forwardbook.book.pages.notebook import notebook_cells, notebook_metadata, notebook_summary
from forwardbook.book.pages.opening import summary, title
from forwardbook.book.pages.outline import outline
from forwardbook.book.pages.ownership import native_concepts, native_configuration, native_errors, targets
from forwardbook.book.pages.performance import performance
from forwardbook.book.pages.related import related
from forwardbook.book.pages.section import SectionFacts, Writer

__all__ = ["Calls", "Context", "SectionFacts", "Writer", "file_page"]

PYTHON: Final[tuple[Writer, ...]] = (
    title, summary, metadata, concepts, components, commands, data_flow, architecture, performance,
    error_handling, configuration, examples, related, costs,
)  # fmt: skip
BROKEN: Final[tuple[Writer, ...]] = (title, summary, metadata, outline, data_flow, architecture, related)
NATIVE: Final[tuple[Writer, ...]] = (
    title, summary, native_metadata, native_concepts, outline, data_flow, architecture, kernels,
    native_errors, native_configuration, related,
)  # fmt: skip
CMAKE: Final[tuple[Writer, ...]] = (title, config_summary, config_metadata, targets, config_example, related)
CONFIG: Final[tuple[Writer, ...]] = (title, config_summary, config_metadata, keys, config_example, related)
NOTEBOOK: Final[tuple[Writer, ...]] = (title, notebook_summary, notebook_metadata, notebook_cells, related)


def file_page(path: str, data: bytes, facts: FileFacts, graph: Calls, context: Context) -> Page:
    """The page of one file; nothing that stands in the file makes it fail."""
    known = _detail(path, data, facts, context), graph, context, _native_detail(data, facts)
    one = SectionFacts(path, data, facts, *known)
    blocks: tuple[Block, ...] = tuple(block for write in writers(one) for block in write(one))
    return Page(context.pages.get(path, page_name(path)), _front_matter(facts, context), blocks)


def writers(facts: SectionFacts) -> tuple[Writer, ...]:
    """The sections that a file of its language and state has."""
    if facts.facts.language == "python":
        return PYTHON if facts.detail.parser != "none" else BROKEN
    if facts.facts.language in ("c", "cpp", "cuda"):
        return NATIVE
    if facts.facts.language == "cmake":
        return CMAKE
    return NOTEBOOK if facts.facts.language == "notebook" else CONFIG


def _detail(path: str, data: bytes, facts: FileFacts, context: Context) -> Detail:
    if facts.language == "python":
        from forwardbook.analyzers.detail.read import detail

        return detail(path, data, facts, context.around.first_party)
    span = Span(1, max(facts.lines, 1))
    return Detail(path, "none", FunctionDetail("", span, span, "module"))


def _native_detail(data: bytes, facts: FileFacts) -> NativeDetail:
    if facts.language in ("c", "cpp", "cuda", "cmake"):
        from forwardbook.analyzers.native import native_detail

        return native_detail(facts, data)
    return NativeDetail(facts.path)


def _front_matter(facts: FileFacts, context: Context) -> dict[str, Value]:
    values: dict[str, Value] = {
        "title": facts.path.rpartition("/")[2],
        "path": facts.path,
        "language": facts.language,
        "status": status(facts),
    }
    values |= {"updated": context.updated} if context.updated else {}
    values |= {"commit": context.commit} if context.commit else {}
    return values | {"sources": {facts.path: facts.digest[:16]}}

"""Sections: a small file's page is as it was looked over; hostile text stays text on every page."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from forwardbook.analyzers.detail.facts import Detail, FunctionDetail, Parallel, ParameterDetail, Timed
from forwardbook.analyzers.index.facts import FileFacts, Problem, Repository, Span
from forwardbook.book.blocks import markdown
from forwardbook.book.pages import (
    BROKEN,
    CONFIG,
    NATIVE,
    NOTEBOOK,
    PYTHON,
    Context,
    SectionFacts,
    Writer,
    file_page,
)

GOLDEN = Path(__file__).parent / "golden"
READER = MarkdownIt("gfm-like", {"html": True, "linkify": False})
SECTIONS = {
    "Summary", "Metadata", "Core concepts", "Components", "Command line", "Data flow", "Architecture",
    "Performance-critical sections", "Error handling", "Configuration", "Usage examples", "Related files",
    "Cost", "Keys", "Example",
}  # fmt: skip
OURS = re.compile(r"</?(details|summary|code)( markdown=\"1\")?>")
HOSTILE = (
    "<script>alert(1)</script>", "---", "a | b", "`x` ```", "x;y\n---\n# h", "{{ x }}", "[a](b)", "*/ -->",
    "%%{init: {}}%%", "end", "x\u202ey", "\x00", "$x$", "</details>", "</summary><img src=x>",
)  # fmt: skip


def page_of(facts: SectionFacts, writers: tuple[Writer, ...] = PYTHON) -> str:
    """The sections one after the other."""
    return markdown(block for write in writers for block in write(facts)) + "\n"


def test_the_page_of_a_small_file_is_the_golden_one(till: SectionFacts) -> None:
    """Set `UPDATE_GOLDEN=1` to write it anew, and look at the difference."""
    text, path = page_of(till), GOLDEN / "till.md"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


def test_sections_come_in_the_order_of_a_page(till: SectionFacts) -> None:
    """From the summary to the related files."""
    heads = [line[3:] for line in page_of(till).split("\n") if line.startswith("## ")]
    assert [
        "Summary", "Metadata", "Components", "Data flow", "Architecture", "Performance-critical sections",
        "Error handling", "Configuration", "Usage examples", "Related files",
    ] == heads  # fmt: skip


def hostile(facts: SectionFacts, text: str) -> SectionFacts:
    """The same file with a text in every place that a source fills."""
    detail = facts.detail
    method = replace(
        detail.functions[1],
        docstring=text * 3 + "\n\n" + text,
        summary=text,
        parameters=(ParameterDetail("a", "", text, text, text, text),),
        timed=(Timed(Span(1, 2), text, text),),
        parallel=(Parallel("thread", 1, text, text, text, text),),
    )
    other = replace(
        detail,
        summary=text,
        functions=(method,),
        constants=tuple(replace(each, value=text, comment=text) for each in detail.constants),
        classes=tuple(
            replace(each, summary=text, docstring=text * 9, nature=(text,)) for each in detail.classes
        ),
    )
    own = replace(
        facts.facts,
        docstring=text,
        problems=(Problem(1, text),),
        generated_by=text,
        definitions=tuple(replace(each, docstring=text) for each in facts.facts.definitions),
    )
    return replace(facts, detail=other, facts=own)


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("writers", [PYTHON, BROKEN, NATIVE, CONFIG])
def test_hostile_text_stays_text(till: SectionFacts, text: str, writers: tuple[Writer, ...]) -> None:
    """No tag but those of folding, no heading but ours, and tables with equal columns."""
    tokens = READER.parse(page_of(hostile(till, text), writers))
    kinds = {each.type for each in tokens} | {inner.type for each in tokens for inner in each.children or ()}
    assert kinds.isdisjoint({"hr", "image", "code_block", "s_open", "softbreak", "ordered_list_open"})
    pairs = zip(tokens, tokens[1:], strict=False)
    headings = {
        each.content for before, each in pairs if before.type == "heading_open" and before.tag == "h2"
    }
    assert headings <= SECTIONS
    html = "".join(each.content for each in tokens if each.type == "html_block")
    assert "<" not in OURS.sub("", html)
    assert not any(inner.type == "html_inline" for each in tokens for inner in each.children or ())


def test_tables_have_equal_columns(till: SectionFacts) -> None:
    """Counted by the bars that stand behind no backslash."""
    lines = page_of(hostile(till, "a | b \\| c")).split("\n")
    for before, line in zip(lines, lines[1:], strict=False):
        if line.startswith("|") and before.startswith("|"):
            assert before.replace("\\|", "").count("|") == line.replace("\\|", "").count("|")


def bare(path: str, language: str, data: bytes) -> SectionFacts:
    """A file of which nothing is known but its bytes."""
    facts = FileFacts(path, language, "0" * 64, data.count(b"\n"))  # type: ignore[arg-type]
    context = Context(Repository("/", {path: facts}))
    level = FunctionDetail("", Span(1, 1), Span(1, 1), "module")
    return SectionFacts(path, data, facts, Detail(path, "none", level), NoCalls(), context)


class NoCalls:
    """A call graph without an edge."""

    def edges_from(self, path: str, qualname: str) -> tuple[()]:
        return ()

    edges_to = edges_from

    def imports_of(self, path: str) -> tuple[()]:
        return ()

    imported_by = imports_of


@pytest.mark.parametrize(
    "language", ["python", "c", "cpp", "cuda", "cmake", "yaml", "json", "toml", "notebook", "other"]
)
@pytest.mark.parametrize(
    "data", [b"", b"\x00\xff" * 50, b"x" * 10_000, b"{", b'{"cells": [1, {"source": 3}]}']
)
def test_every_file_has_a_page(language: str, data: bytes) -> None:
    """Empty, binary and broken files of any language are named and described as far as they go."""
    facts = FileFacts("a b|`c`.py", language, "0" * 64, 1)  # type: ignore[arg-type]
    page = file_page(facts.path, data, facts, NoCalls(), Context(Repository("/", {facts.path: facts})))
    text = page.markdown()
    assert text.startswith("---\nchecksum: ") and "\n## Metadata\n" in text and "\n## Summary\n" in text


def test_a_file_without_calls_says_so(till: SectionFacts) -> None:
    """Its diagram declares the file and its classes."""
    text = page_of(replace(till, graph=NoCalls()))
    assert "No call of this file leads to" in text and "participant P2 as Till" in text


def test_a_notebook_shows_its_cells_of_code() -> None:
    """Headings and code are shown, outputs are not."""
    cells = [
        {"cell_type": "markdown", "source": ["# Hi\n"]},
        {"cell_type": "code", "source": "x = 1", "outputs": ["secret"]},
    ]
    data = json.dumps({"cells": cells}).encode()
    text = page_of(bare("a.ipynb", "notebook", data), NOTEBOOK)
    assert "x = 1" in text and "Hi" in text and "secret" not in text

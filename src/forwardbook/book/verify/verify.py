"""One page of Markdown in, all its claims with their states out."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import cached_property

from forwardbook.book.mermaid.grammar import Grammar, Parsed
from forwardbook.book.verify.claims import Claim, Verdict
from forwardbook.book.verify.context import Context, Found
from forwardbook.book.verify.counts import is_count_table, table_counts, text_counts
from forwardbook.book.verify.diagrams import check_diagram
from forwardbook.book.verify.fences import check_fence
from forwardbook.book.verify.inline import Inline
from forwardbook.book.verify.links import text_links
from forwardbook.book.verify.names import Names
from forwardbook.book.verify.quoted import check_quoted
from forwardbook.book.verify.reading import Fence, Line, Row, Table, is_relation_table, read_page
from forwardbook.book.verify.relations import table_relations, text_relations
from forwardbook.book.verify.sources import Sources
from forwardbook.book.verify.spans import check_citation, check_lines
from forwardbook.book.verify.symbols import check_symbol
from forwardbook.book.verify.tables import check_table


@dataclass
class Verifier:
    """The sources and Mermaid's grammar; `verify` judges page after page against them."""

    sources: Sources
    grammar: Grammar | None = field(default_factory=Grammar)

    @cached_property
    def names(self) -> Names:
        return Names(self.sources)

    def verify(self, markdown: str, page_path: str) -> tuple[Claim, ...]:
        """Every claim of a page, in the order of its lines."""
        page = read_page(markdown)
        parsed = {
            fence.line: self.grammar.submit(fence.text)
            for fence in page.fences
            if self.grammar is not None and fence.language == "mermaid"
        }
        context = Context(page, page_path, self.sources, self.names)
        found = [*_claims(context), *_claims_of_fences(context, parsed)]
        claims = {_claim(one, context) for one in found}
        return tuple(sorted(claims, key=lambda claim: (claim.line, claim.kind, claim.text)))


def verify_page(
    markdown: str, page_path: str, sources: Sources, grammar: Grammar | None = None
) -> tuple[Claim, ...]:
    """Every claim of a page, in the order of its lines, held against the sources.

    For many pages make one `Verifier`: it keeps the names of the repository and what names mean.
    """
    return Verifier(sources, grammar or Grammar()).verify(markdown, page_path)


def _claim(found: Found, context: Context) -> Claim:
    verdict = found.verdict
    state = "stale" if verdict.state == "contradicted" and _has_changed(verdict, context) else verdict.state
    text = found.text if len(found.text) <= 200 else found.text[:199] + "…"
    return Claim(context.path, found.line, found.kind, text, state, verdict.truth, verdict.file)


def _has_changed(verdict: Verdict, context: Context) -> bool:
    """Whether the source of a claim is another one than when the page was written."""
    written = context.page.sources
    for path in (verdict.file,) if verdict.file else written:
        facts = context.sources.files.get(path)
        if path in written and (facts is None or not facts.digest.startswith(written[path])):
            return True
    return False


def _claims(context: Context) -> Iterator[Found]:
    for line in context.page.lines:
        yield from _claims_of_line(line, context)
    for table in context.page.tables:
        yield from _claims_of_table(table, context)


def _claims_of_fences(context: Context, parsed: dict[int, Future[Parsed]]) -> Iterator[Found]:
    """Diagrams last: Mermaid's grammar works in its own thread meanwhile."""
    diagrams = [fence for fence in context.page.fences if fence.language == "mermaid"]
    for fence in context.page.fences:
        if fence.language != "mermaid":
            yield from check_fence(fence, context)
    checks: list[tuple[Fence, Future[Parsed] | None]] = [(one, parsed.get(one.line)) for one in diagrams]
    for fence, answer in checks:
        yield from check_diagram(fence, context, answer.result() if answer else None)


def _claims_of_line(line: Line, context: Context) -> Iterator[Found]:
    inline = context.inlines[line.number]
    yield from text_links(line.number, inline, context)
    yield from (Found(line.number, "line", f"[{one}]", check_lines(one, context)) for one in inline.shown)
    if not inline.spans:
        return
    near = context.near(line.heading, [inline])
    yield from _claims_of_spans(line.number, inline, context, near)
    if len(inline.spans) > 1:
        yield from text_relations(line, inline, context, near)
    if "**" in inline.text:
        yield from text_counts(line, inline, context)


def _claims_of_spans(
    number: int, inline: Inline, context: Context, near: tuple[str, ...]
) -> Iterator[Found]:
    """Citations, places and names among the code spans of a line."""
    for index, span in enumerate(inline.spans):
        if span.place is None:
            if (judged := check_symbol(span.text, context, near)) is not None:
                yield Found(number, judged[0], f"`{span.text}`", judged[1])
            continue
        before = inline.spans[index - 1] if index else None
        if before is not None and before.place is None and inline.between(index - 1, index).strip() == "(":
            kind, verdict = check_citation(before.text, span.place, context, near)
            yield Found(number, kind, f"`{before.text}` (`{span.text}`)", verdict)
        else:
            yield Found(number, "line", f"`{span.text}`", check_lines(span.place, context, near))


def _claims_of_table(table: Table, context: Context) -> Iterator[Found]:
    known = check_table(table, context)
    if known is not None:
        yield from known
        if table.head[:1] == ("parameter",):
            return
    if is_relation_table(table):
        yield from table_relations(table, context)
    elif is_count_table(table):
        yield from table_counts(table, context)
        return
    for row in table.rows:
        yield from _claims_of_row(row, table, context, known is None and not is_relation_table(table))


def _claims_of_row(row: Row, table: Table, context: Context, cite: bool) -> Iterator[Found]:
    """The names of a row; a cell that is a place stands behind the first name of the row."""
    inlines = [context.cell(cell) for cell in row.cells]
    heading = table.heading
    near = context.near(heading, inlines)
    first = next((span.text for inline in inlines[:1] for span in inline.spans if span.place is None), "")
    yield from check_quoted(table, row, context, near)
    for inline in inlines:
        yield from text_links(row.line, inline, context)
        alone = len(inline.spans) == 1 and inline.spans[0].place
        if alone and first and cite and inline.text.strip().startswith("`"):
            kind, verdict = check_citation(first, alone, context, near)
            yield Found(row.line, kind, f"`{first}` | `{inline.spans[0].text}`", verdict)
        else:
            yield from _claims_of_spans(row.line, inline, context, near)
            if len(inline.spans) > 1:
                yield from text_relations(Line(row.line, inline.text, heading), inline, context, near)
            if "**" in inline.text:
                yield from text_counts(Line(row.line, inline.text, heading), inline, context)

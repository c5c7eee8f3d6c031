"""A place in a source file in, the statement and the smallest expression written there out."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import libcst as cst

from forwardbook.analyzers.reader.facts import Span
from forwardbook.analyzers.reader.functions import header_span
from forwardbook.analyzers.reader.sources import SourceFile, Sources, descend


@dataclass(frozen=True)
class LineMap:
    """The statements of one file by the lines they cover, and its expressions by range."""

    source: SourceFile
    statements: Mapping[int, Span]  # line -> the innermost statement (of a compound one: its header) on it
    expressions: tuple[Span, ...]  # sorted

    def statement(self, line: int) -> Span | None:
        """The statement that covers a line."""
        return self.statements.get(line)

    def code(self, line: int) -> str:
        """The text of the statement that covers a line, on one line."""
        span = self.statements.get(line)
        if span is None:
            return self.source.lines[line - 1].strip() if 0 < line <= len(self.source.lines) else ""
        rows = self.source.text_of(span).splitlines()
        return _joined(row.partition("  #")[0].strip() for row in rows)

    def expression(self, line: int, col: int, end_line: int, end_col: int) -> str:
        """The text of the smallest expression that covers a range; columns count characters."""
        wanted = Span(line, col, end_line, end_col)
        best: Span | None = None
        for index in range(bisect_right(self.expressions, _start(wanted), key=_start) - 1, -1, -1):
            span = self.expressions[index]
            if span.contains(wanted) and (best is None or best.contains(span)):
                best = span
                if span == wanted:
                    break
            if best is not None and span.line < best.line:
                break
        return self.source.text_of(best) if best is not None else self.code(line)


def _joined(rows: Iterable[str]) -> str:
    """Rows of one statement on one line, without the blanks and the last comma that wrapping adds."""
    text = ""
    for row in rows:
        if row[:1] in (")", "]", "}"):
            text = text.removesuffix(",") + row
        else:
            text += row if not text or text[-1] in "([{" else f" {row}"
    return text


def _start(span: Span) -> tuple[int, int]:
    return span.line, span.col


def line_map(file: str | Path, sources: Sources | None = None) -> LineMap:
    """The line map of a file; built once for each state of the file."""
    path = Path(file).resolve()
    return _line_map((sources or Sources()).load_path(path))


@lru_cache(maxsize=64)
def _line_map(source: SourceFile) -> LineMap:
    statements: dict[int, Span] = {}
    expressions: list[Span] = []
    words: set[cst.CSTNode] = (
        set()
    )  # names after a dot or before a keyword's `=`: no expressions of their own
    for node in descend(source.tree):
        if isinstance(node, cst.Attribute):
            words.add(node.attr)
        elif isinstance(node, cst.Arg) and node.keyword is not None:
            words.add(node.keyword)
        if isinstance(node, cst.BaseExpression) and node in source.positions and node not in words:
            expressions.append(source.span(node))
        elif isinstance(node, cst.BaseCompoundStatement):
            _cover(statements, header_span(source, node))
            for decorator in getattr(node, "decorators", ()):
                _cover(statements, source.span(decorator))
        elif isinstance(node, cst.BaseSmallStatement) and not _is_docstring(node):
            _cover(statements, source.span(node))
    return LineMap(source, statements, tuple(sorted(expressions, key=lambda span: (span.line, span.col))))


def _is_docstring(node: cst.BaseSmallStatement) -> bool:
    return isinstance(node, cst.Expr) and isinstance(node.value, cst.SimpleString | cst.ConcatenatedString)


def _cover(statements: dict[int, Span], span: Span) -> None:
    for line in range(span.line, span.end_line + 1):
        statements[line] = span

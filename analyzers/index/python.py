"""The bytes of a Python file in, its facts out, by the first of three parsers that takes it."""

from __future__ import annotations

import ast
import gc
import hashlib
import platform
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Literal

from forwardbook.analyzers.index.facts import FileFacts, Language, Problem
from forwardbook.analyzers.index.marks import marks
from forwardbook.analyzers.index.problems import problem
from forwardbook.analyzers.index.reading import Reading
from forwardbook.analyzers.index.size_limit import parsable_part
from forwardbook.analyzers.index.source_text import SourceText, decoded

_PYTHON: Final = "Python " + ".".join(platform.python_version_tuple()[:2])
Parser = Literal["ast", "libcst", "tree-sitter", "none"]


def index_python(path: str, data: bytes, module: str) -> FileFacts:
    """The facts of a Python file; what cannot be read of it is a problem, never an error."""
    source = decoded(data)
    return python_facts(path, source, module, digest=hashlib.sha256(data).hexdigest())


def python_facts(
    path: str,
    source: SourceText,
    module: str,
    digest: str,
    language: Language = "python",
    lines: int | None = None,
) -> FileFacts:
    """The facts of Python source text, whatever kind of file it comes from."""
    problems = list(source.problems)
    part = parsable_part(source.text)
    if part is not source.text:
        problems.append(
            problem(
                part.count("\n") + 1,
                f"only the first {len(part):,} of {len(source.text):,} characters are read",
            )
        )
    with _undisturbed():
        reading, parser = _read(source, part, problems)
    said = marks(path, source.text, reading.docstring)
    return FileFacts(
        path=path,
        language=language,
        digest=digest,
        lines=source.lines if lines is None else lines,
        module=module,
        encoding=source.encoding,
        parser=parser,
        docstring=reading.docstring,
        definitions=tuple(reading.definitions),
        imports=tuple(reading.imports),
        exports=None if reading.exports is None else tuple(reading.exports),
        constants=tuple(reading.module.bound.values()),
        calls=reading.module.ordered_calls(),
        generated_by=said.generated_by,
        generated_from=said.generated_from,
        experimental=said.experimental,
        has_main=reading.has_main,
        problems=tuple(problems),
    )


def _read(source: SourceText, text: str, problems: list[Problem]) -> tuple[Reading, Parser]:
    """What a file contains, by the first parser that takes it; why others did not goes to the problems."""
    line, why, nested = 0, "", False
    try:
        return Reading(source, ast.parse(text)), "ast"
    except SyntaxError as error:
        line, why = error.lineno or 0, error.msg
    except (ValueError, RecursionError, MemoryError) as error:
        why, nested = str(error) or "nested too deep", True
    if not nested and (read := _by_libcst(source, text)):
        problems.append(problem(line, f"{_PYTHON} does not parse it ({why}); read by LibCST"))
        return read, "libcst"
    problems.append(problem(line, f"{_PYTHON} does not parse it ({why}); read as far as possible"))
    try:
        from forwardbook.analyzers.index.broken_text import readable_statements

        found, broken = readable_statements(text)
        read = Reading(source, ast.Module(found, []))
    except (ValueError, RecursionError, MemoryError) as error:
        problems.append(problem(0, f"nothing could be read: {error or type(error).__name__}"))
        return Reading(source, ast.Module([], [])), "none"
    problems.extend(broken)
    return read, "tree-sitter"


def _by_libcst(source: SourceText, text: str) -> Reading | None:
    """What a file contains as LibCST reads it, None where it does not take it either."""
    from forwardbook.analyzers.index.libcst_nesting import parses_safely

    if not parses_safely(text):
        return None
    try:
        from forwardbook.analyzers.index.libcst_statements import statements

        return Reading(source, ast.Module(statements(text), []))
    except Exception:  # LibCST's own errors derive from several classes, and its converters raise more
        return None


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Without the garbage collector, which frees nothing here, and without the parser's warnings."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        if collecting:
            gc.enable()

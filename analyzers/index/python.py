"""The bytes of a Python file in, its facts out, by the first of three parsers that takes it."""

from __future__ import annotations

import ast
import gc
import hashlib
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from forwardbook.analyzers.index.facts import FileFacts, Problem
from forwardbook.analyzers.index.reading import Reading
from forwardbook.analyzers.index.source_text import decoded


def index_python(path: str, data: bytes, module: str) -> FileFacts:
    """The facts of a Python file; what cannot be read of it is a problem, never an error."""
    source = decoded(data)
    problems = list(source.problems)
    facts = FileFacts(
        path=path,
        language="python",
        digest=hashlib.sha256(data).hexdigest(),
        lines=source.lines,
        module=module,
        encoding=source.encoding,
    )
    try:
        with _undisturbed():
            tree = ast.parse(source.text, filename=path)
            reading = Reading(source, tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        problems.append(Problem(getattr(error, "lineno", 0) or 0, str(error)))
        from dataclasses import replace

        return replace(facts, problems=tuple(problems))
    return FileFacts(
        path=path,
        language="python",
        digest=facts.digest,
        lines=source.lines,
        module=module,
        encoding=source.encoding,
        parser="ast",
        docstring=reading.docstring,
        definitions=tuple(reading.definitions),
        imports=tuple(reading.imports),
        exports=None if reading.exports is None else tuple(reading.exports),
        constants=tuple(reading.module.bound.values()),
        calls=reading.module.ordered_calls(),
        inner=reading.module.ordered_inner(),
        reads=tuple(reading.module.reads),
        has_main=reading.has_main,
        problems=tuple(problems),
    )


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

"""The bytes of a Jupyter notebook in, the facts of the Python in its code cells out, by lines of the file."""

from __future__ import annotations

import ast
import hashlib
import json
import re
from collections.abc import Iterator
from typing import Final

from forwardbook.analyzers.index.facts import FileFacts
from forwardbook.analyzers.index.one_file import plain_facts
from forwardbook.analyzers.index.problems import problem
from forwardbook.analyzers.index.python import python_facts
from forwardbook.analyzers.index.source_text import SourceText, decoded

_MAGIC: Final = re.compile(r"^(\s*)(?:%|!|\?|[\w.]+\s*=\s*[%!])|\?\s*$")


def index_notebook(path: str, data: bytes, module: str) -> FileFacts:
    """The facts of a notebook; lines are those of the file, if it has each line of code on one of its own."""
    file = decoded(data)
    try:
        book = json.loads(file.text)
        cells = list(_code_cells(book))
    except (ValueError, RecursionError) as error:
        return plain_facts(path, data, "notebook", *file.problems, problem(0, f"no notebook: {error}"))
    language = _language(book)
    if language not in ("python", ""):
        return plain_facts(path, data, "notebook", problem(0, f"its code is {language}, not Python"))
    rows = _placed(file.text, cells)
    lines: int | None = file.lines
    problems = list(file.problems)
    if rows is None:
        lines = None
        rows = [line for cell in cells for line in _readable(cell)]
        problems.append(problem(0, "a cell is one line of the file: lines are counted within the code alone"))
    source = SourceText("\n".join(rows) + "\n", file.encoding, problems)
    digest = hashlib.sha256(data).hexdigest()
    return python_facts(path, source, module, digest, "notebook", lines)


def _language(book: dict[str, object]) -> str:
    found: object = book
    for key in ("metadata", "kernelspec", "language"):
        found = found.get(key) if isinstance(found, dict) else None
    return found.lower() if isinstance(found, str) else ""


def _code_cells(book: object) -> Iterator[list[str]]:
    """The lines of every code cell that holds Python; commands of the notebook itself become `pass`."""
    sheets = book.get("worksheets", [book]) if isinstance(book, dict) else None
    if not isinstance(sheets, list):
        raise ValueError("no JSON object with cells")
    for sheet in sheets:
        cells = sheet.get("cells", []) if isinstance(sheet, dict) else []
        for cell in cells if isinstance(cells, list) else []:
            if isinstance(cell, dict) and cell.get("cell_type") == "code":
                given = cell.get("source", cell.get("input", ""))
                text = "".join(map(str, given)) if isinstance(given, list) else str(given)
                yield text.encode("utf-8", "replace").decode().split("\n")


def _placed(text: str, cells: list[list[str]]) -> list[str] | None:
    """The code on the lines on which the file has it, None where it has several on one."""
    rows = [""] * (text.count("\n") + 1)
    position, line = 0, 0
    for cell in cells:
        python = _readable(cell)
        for number, (written, shown) in enumerate(zip(cell, python, strict=True)):
            if not written:
                continue
            found = _found(text, written + ("\n" if number < len(cell) - 1 else ""), position)
            if found < 0:
                return None
            line += text.count("\n", position, found)
            position = found
            if rows[line]:
                return None
            rows[line] = shown
    return rows


def _found(text: str, written: str, position: int) -> int:
    """Where a line of code stands in the file as a string of JSON, -1 for nowhere."""
    for plain in (False, True):
        encoded = json.dumps(written, ensure_ascii=not plain)
        found = text.find(encoded, position)
        if found >= 0:
            return found
    return -1


def _readable(cell: list[str]) -> list[str]:
    """A cell's lines with `pass` for the notebook's own commands; all blank where it is no Python even so."""
    if cell and cell[0].startswith("%%"):
        return ["" for _ in cell]
    lines = [f"{match[1] or ''}pass" if (match := _MAGIC.search(line)) else line for line in cell]
    try:
        ast.parse("\n".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        try:
            ast.parse("\n".join(cell))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return lines
        return list(cell)
    return lines

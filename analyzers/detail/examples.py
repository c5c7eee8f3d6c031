"""The texts of a repository in, usage examples of its definitions with their origin out, smallest first."""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from forwardbook.analyzers.detail.made_example import made_code
from forwardbook.analyzers.index.facts import Definition, FileFacts, Parameter, Span

LONGEST: Final = 25  # lines; of a longer test only the statement with the call is shown
_TEST: Final = re.compile(r"(^|/)(tests?|examples?|samples|demos?)/|(^|/)(test_[^/]*|[^/]*_test)\.py$")
_DOCUMENT: Final = re.compile(r"\.(md|markdown|rst|txt)$", re.IGNORECASE)
_FENCE: Final = re.compile(r"^([ \t]*)(```+|~~~+)[ \t]*\{?[. ]*(\w*)")
_DIRECTIVE: Final = re.compile(
    r"^([ \t]*)\.\.[ \t]+(code-block|code|sourcecode|testcode|doctest)::[ \t]*(\w*)"
)
_CALLED: Final = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
_WORD: Final = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class Example:
    """An example: `code` are the dedented lines of `span` in `path`; made ones have no path.

    `language` is `pycon` where the code carries `>>>`, and then it is no Python source as it stands.
    """

    code: str
    kind: Literal["test", "document", "docstring", "made"]
    path: str = ""
    span: Span = Span(0, 0)
    language: Literal["python", "pycon"] = "python"

    @property
    def origin(self) -> str:
        """Where it was found, as `path:start-end`; empty for one that was made."""
        return f"{self.path}:{self.span.start}-{self.span.end}" if self.path else ""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A piece of code under one name that it calls: `through` is the first name of the callee as written.

    `imported` says what the names of a Python file stand for; a document has its `words` instead.
    """

    example: Example
    through: str
    imported: Mapping[str, str]
    words: frozenset[str] = frozenset()

    def is_of(self, definition: Definition, module: str) -> bool:
        """Whether the called name comes from the definition's module, or from a package around it."""
        top = definition.qualname.partition(".")[0]
        if self.words:
            return module.partition(".")[0] in self.words and top in self.words
        if "." in definition.qualname or self.through == top:
            home = self.imported.get(top, "").rpartition(".")[0]
        else:
            home = self.imported.get(self.through, "")
        return bool(home) and (f"{module}.".startswith(f"{home}.") or f".{home}".endswith(f".{module}"))


class Examples:
    """The calls found in the tests, documents and docstrings of a repository, by the name that is called."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts
        self._by_name: dict[str, list[_Piece]] = {}
        for path, text in sorted(texts.items()):
            for name, piece in _pieces(path, text):
                self._by_name.setdefault(name, []).append(piece)

    def of(self, definition: Definition, facts: FileFacts, most: int = 3) -> tuple[Example, ...]:
        """The smallest real examples of a definition, one of each kind first; else one that is made."""
        found = {each.code: each for each in self._found(definition, facts)}
        ordered = sorted(found.values(), key=lambda each: (each.code.count("\n"), len(each.code), each.path))
        first = {each.kind: each for each in reversed(ordered)}
        chosen = [each for each in ordered if first[each.kind] is each][:most]
        chosen += [each for each in ordered if each not in chosen][: most - len(chosen)]
        return tuple(chosen) or made(definition, facts)

    def _found(self, definition: Definition, facts: FileFacts) -> Iterator[Example]:
        yield from _own(definition, facts.path, self._texts.get(facts.path, ""))
        name = definition.parent.rpartition(".")[2] if definition.name == "__init__" else definition.name
        if name.startswith("__") and name.endswith("__"):
            return
        for piece in self._by_name.get(name, ()):
            if piece.example.path != facts.path and piece.is_of(definition, facts.module):
                yield piece.example


def made(definition: Definition, facts: FileFacts) -> tuple[Example, ...]:
    """One example made from the signature, checked to parse; none for what is not called by its name."""
    init: tuple[Parameter, ...] = ()
    owner = definition.qualname if definition.kind == "class" else definition.parent
    for each in facts.definitions:
        if each.qualname == f"{owner}.__init__":
            init = each.parameters
    code = made_code(definition, facts, init)
    return (Example(code, "made"),) if code and _parses(code) else ()


def _own(definition: Definition, path: str, text: str) -> Iterator[Example]:
    """The doctests and code blocks of a definition's own docstring."""
    if not definition.docstring or not text:
        return
    lines = text.split("\n")
    name = definition.parent.rpartition(".")[2] if definition.name == "__init__" else definition.name
    end = min(definition.span.end, len(lines), definition.span.start + definition.docstring.count("\n") + 40)
    for start, stop, language in _blocks(lines[definition.span.start - 1 : end]):
        first = definition.span.start + start
        code = textwrap.dedent("\n".join(lines[first - 1 : definition.span.start + stop - 1]))
        if name in _WORD.findall(code) and (language == "pycon" or _parses(code)):
            span = Span(first, definition.span.start + stop - 1)
            yield Example(code, "docstring", path, span, language)


def _pieces(path: str, text: str) -> Iterator[tuple[str, _Piece]]:
    """The pieces of a text that call something, under each name that they call."""
    if _DOCUMENT.search(path):
        lines, words = text.split("\n"), frozenset(_WORD.findall(text[:200_000]))
        for start, stop, language in _blocks(lines):
            code = textwrap.dedent("\n".join(lines[start:stop]))
            if language == "pycon" or _parses(code):
                example = Example(code, "document", path, Span(start + 1, stop), language)
                piece = _Piece(example, "", {}, words)
                yield from ((name, piece) for name in set(_CALLED.findall(code)))
    elif path.endswith(".py") and _TEST.search(path):
        yield from _in_tests(path, text)


def _in_tests(path: str, text: str) -> Iterator[tuple[str, _Piece]]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    lines, imported = text.split("\n"), _imported(tree)
    for node in tree.body:
        inner = node.body if isinstance(node, ast.ClassDef) else [node]
        for each in inner:
            if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
                for name, through, span in _calls(each):
                    code = textwrap.dedent("\n".join(lines[span.start - 1 : span.end]))
                    yield name, _Piece(Example(code, "test", path, span), through, imported)


def _imported(tree: ast.Module) -> dict[str, str]:
    """What the imported names of a file stand for, in full."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                name = each.name if each.asname else each.name.partition(".")[0]
                found[each.asname or name] = name
        elif isinstance(node, ast.ImportFrom):
            for each in node.names:
                found[each.asname or each.name] = f"{node.module or ''}.{each.name}"
    return found


def _calls(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[tuple[str, str, Span]]:
    """The names that a function calls, and the lines to show: the function, or of a long one a statement."""
    start = min((mark.lineno for mark in node.decorator_list), default=node.lineno)
    whole = Span(start, node.end_lineno or node.lineno)
    is_short = whole.end - whole.start < LONGEST
    seen: set[str] = set()
    for statement in ast.walk(node):
        if not isinstance(statement, ast.stmt) or (is_short and statement is not node):
            continue
        if not is_short and getattr(statement, "body", None):
            continue
        span = whole if is_short else Span(statement.lineno, statement.end_lineno or statement.lineno)
        for each in ast.walk(statement):
            if isinstance(each, ast.Call):
                name = getattr(each.func, "attr", getattr(each.func, "id", ""))
                if name and name not in seen and span.end - span.start < LONGEST:
                    seen.add(name)
                    yield name, _first_name(each.func), span


def _first_name(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _blocks(lines: list[str]) -> Iterator[tuple[int, int, Literal["python", "pycon"]]]:
    """Where the code blocks of a text begin and end (first line, line after), and how they are written."""
    at = 0
    while at < len(lines):
        fence, directive = _FENCE.match(lines[at]), _DIRECTIVE.match(lines[at])
        if fence is not None:
            start = at + 1
            at = start
            while at < len(lines) and not lines[at].strip().startswith(fence[2]):
                at += 1
            if fence[3].lower() in ("", "python", "py", "python3", "pycon") and at > start:
                yield start, at, _language(lines[start:at])
            at += 1
        elif directive is not None:
            start, at = _indented(lines, at + 1, len(directive[1]))
            if directive[3].lower() in ("", "python", "py", "python3", "pycon") and at > start:
                yield start, at, _language(lines[start:at])
        elif lines[at].lstrip().startswith(">>> "):
            start = at
            while at < len(lines) and lines[at].strip() and not lines[at].strip().startswith(('"""', "'''")):
                at += 1
            yield start, at, "pycon"
        else:
            at += 1


def _indented(lines: list[str], at: int, indent: int) -> tuple[int, int]:
    """The lines of an indented block: its first, and the one after its last that is not blank."""
    while at < len(lines) and (not lines[at].strip() or lines[at].strip().startswith(":")):
        at += 1
    start = last = at
    while at < len(lines):
        if lines[at].strip():
            if len(lines[at]) - len(lines[at].lstrip()) <= indent:
                break
            last = at + 1
        at += 1
    return start, max(start, last)


def _language(lines: list[str]) -> Literal["python", "pycon"]:
    return "pycon" if any(line.lstrip().startswith(">>> ") for line in lines) else "python"


def _parses(code: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return bool(ast.parse(code).body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False

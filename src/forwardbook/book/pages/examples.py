"""Usage examples of a file: real ones with their origin, else one made from a signature that parses."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from forwardbook.analyzers.index.facts import Call, Definition, FileFacts, Parameter
from forwardbook.book.blocks import Block, Code, Heading, Paragraph
from forwardbook.book.inline import code, where
from forwardbook.book.pages.kind import is_test
from forwardbook.book.pages.section import SectionFacts, section

_MOST = 3  # examples of each kind
_LINES = 30  # of one example
_TESTS_READ = 8
_PROMPT = re.compile(r"^(\s*)(>>>|\.\.\.)( |$)")
_FENCE = re.compile(r"^\s*(`{3,}|~{3,})\s*(python|py|pycon)?\b")


@dataclass(frozen=True, slots=True)
class Found:
    """Lines `start` to `end` of a file, quoted as they stand but for indentation."""

    path: str
    start: int
    end: int
    text: str

    def block(self, shown: str) -> Code:
        """The quotation with its origin."""
        return Code("python", self.text, f"from {shown}:{self.start}-{self.end}")


def examples(facts: SectionFacts) -> tuple[Block, ...]:
    """Examples out of docstrings, tests and documents, else one made."""
    blocks = [
        *_listed(facts, "From docstrings", list(prompts(facts.path, facts.data))[:_MOST]),
        *_listed(facts, "From tests", list(_tests(facts))[:_MOST]),
        *_listed(facts, "From documents", list(_documents(facts))[:_MOST]),
    ]
    return section("Usage examples", blocks or list(_made(facts)) or [Paragraph("No example was found.")])


def _listed(facts: SectionFacts, title: str, found: list[Found]) -> Iterator[Block]:
    if found:
        yield Heading(3, title)
        yield from (each.block(facts.context.around.short(each.path)) for each in found)


def _text_lines(data: bytes) -> list[str]:
    return data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n").split("\n")


def prompts(path: str, data: bytes) -> Iterator[Found]:
    """Runs of lines that begin with `>>>`, with their output."""
    if b">>> " not in data:
        return
    lines = _text_lines(data)
    at = 0
    while at < len(lines):
        found = _PROMPT.match(lines[at])
        if not found or found[2] != ">>>":
            at += 1
            continue
        start = at
        while at < len(lines) and lines[at].strip() and '"""' not in lines[at] and "'''" not in lines[at]:
            at += 1
        if at > start:
            yield _quoted(path, lines, start, min(at, start + _LINES))
        at = max(at, start + 1)


def _quoted(path: str, lines: list[str], start: int, end: int) -> Found:
    text = textwrap.dedent("\n".join(line.expandtabs(4).rstrip() for line in lines[start:end]))
    return Found(path, start + 1, end, text)


def _tests(facts: SectionFacts) -> Iterator[Found]:
    """Short test functions that call something public of the file, those of the nearest test file first."""
    names = {each.name for each in facts.public}
    stem = facts.path.rpartition("/")[2].partition(".")[0]
    users = [each for each in facts.graph.imported_by(facts.path) if is_test(each) and each.endswith(".py")]
    for path in sorted(users, key=lambda each: (stem not in each, each))[:_TESTS_READ]:
        other = facts.context.repository.files[path]
        fitting = [each for each in other.definitions if _is_example(each, names, other)]
        data = facts.context.around.text(path) if fitting else b""
        for each in sorted(fitting, key=lambda one: one.span.end - one.span.start)[:1] if data else ():
            yield _quoted(path, _text_lines(data), each.decorated.start - 1, each.span.end)


def _is_example(one: Definition, names: set[str], facts: FileFacts) -> bool:
    taken = {each.alias or each.name for each in facts.imports if each.name in names}
    modules = {each.alias or each.module.rpartition(".")[2] or each.name for each in facts.imports}
    called = any(_is_called(each, taken, modules, names) for each in one.calls)
    return one.name.startswith("test") and one.span.end - one.decorated.start < _LINES and called


def _is_called(call: Call, taken: set[str], modules: set[str], names: set[str]) -> bool:
    head, _, rest = call.target.partition(".")
    return head in taken or (head in modules and rest.partition(".")[0] in names)


def _documents(facts: SectionFacts) -> Iterator[Found]:
    """Fences of Python in documents that take something public from this file's module."""
    module = facts.facts.module
    names = [re.escape(each.name) for each in facts.public]
    if not module or not names:
        return
    head = re.escape(module.rpartition(".")[0] or module)
    pattern = rf"(?:from|import) +{head}[\w.]*[^\n]*\b(?:{'|'.join(names)}|{re.escape(module)})\b"
    wanted = re.compile(pattern)
    for path in facts.context.around.documents:
        data = facts.context.around.text(path)
        if module.partition(".")[0].encode() in data:
            yield from (each for each in fences(path, data) if wanted.search(each.text))


def fences(path: str, data: bytes) -> Iterator[Found]:
    """The Python inside of fences of a document."""
    lines = _text_lines(data)
    at = 0
    while at < len(lines):
        opened = _FENCE.match(lines[at])
        if not opened:
            at += 1
            continue
        start = at = at + 1
        while at < len(lines) and not lines[at].strip().startswith(opened[1]):
            at += 1
        if opened[2] and 0 < at - start <= _LINES:
            yield _quoted(path, lines, start, at)
        at += 1


def _made(facts: SectionFacts) -> Iterator[Block]:
    """A call of the first public function or class, made from its signature."""
    module = facts.facts.module
    callables = [each for each in facts.public if each.kind in ("class", "function")]
    if not module or not callables or not all(part.isidentifier() for part in module.split(".")):
        return
    one = next((each for each in callables if each.docstring), callables[0])
    text = made(module, one, facts.definitions.get(f"{one.qualname}.__init__"))
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return
    yield Paragraph(f"Made from the signature of {code(one.name)} ({where(facts.shown, one.span)}):")
    yield Code("python", text)


def made(module: str, one: Definition, constructor: Definition | None) -> str:
    """The import and a call that names every argument without a default."""
    parameters = one.parameters if one.kind == "function" else constructor.parameters if constructor else ()
    needed = [each for each in parameters if not each.default and each.kind not in ("*", "**")]
    if one.kind == "class":
        needed = needed[1:]
    arguments = ", ".join(_argument(each) for each in needed)
    name = "instance" if one.kind == "class" else "result"
    awaited = "await " if one.is_async else ""
    call = f"{name} = {awaited}{one.name}({arguments})"
    if one.is_async:
        call = f"async def main():\n    {call}"
    return f"from {module} import {one.name}\n\n{call}\n"


def _argument(one: Parameter) -> str:
    return f"{one.name}={one.name}" if one.kind == "keyword" else one.name

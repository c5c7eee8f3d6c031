"""Blocks of code in; signatures and quotations held against the source, examples parsed out."""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from collections.abc import Iterator
from typing import Final

from forwardbook.book.inline import as_shown
from forwardbook.book.verify.claims import Verdict, contradicted, supported, unverified
from forwardbook.book.verify.context import Context, Found
from forwardbook.book.verify.inline import Place, read_place
from forwardbook.book.verify.names import Target
from forwardbook.book.verify.reading import Fence, Heading
from forwardbook.book.verify.same import same_signature, same_text
from forwardbook.book.verify.spans import check_lines, file_of
from forwardbook.book.verify.symbols import has_global
from forwardbook.printable import printable

PYTHON: Final = frozenset({"python", "py", "python3", "pycon"})
NATIVE: Final = frozenset({"c", "cpp", "c++", "cuda", "cu", "cxx"})
_ORIGIN = re.compile(r"^\s*(?:#|//|;|--)\s*(from\s+)?(\S.*?)\s*$")
_DEFINITION = re.compile(r"^\s*(?:async\s+def|def|class)\s+(\w+)")
_DECORATOR = re.compile(r"^\s*@(.+)$")
_MAGIC = re.compile(r"^\s*(?:[!%]|\$ )", re.MULTILINE)


def check_fence(fence: Fence, context: Context) -> Iterator[Found]:
    """Every claim of a block of code."""
    origins = list(_origins(fence))
    for index, (at, place, quoted) in enumerate(origins):
        end = origins[index + 1][0] if index + 1 < len(origins) else len(fence.lines)
        body = fence.lines[at + 1 : end]
        if quoted:
            verdict = check_quotation(body, place, fence.heading, context)
            yield Found(fence.line + 1 + at, "quotation", f"from {place}", verdict)
        else:
            yield from _signatures(fence, at, body, place, context)
    if fence.language in PYTHON and not origins:
        yield from _example(fence, context)


def _origins(fence: Fence) -> Iterator[tuple[int, Place, bool]]:
    """The comments that say where code is from: index of the line, place, whether it is a quotation."""
    for at, line in enumerate(fence.lines):
        found = _ORIGIN.match(line) if line.lstrip()[:1] in ("#", "/", ";", "-") else None
        place = read_place(found[2]) if found else None
        if found is not None and place is not None and (at == 0 or not found[1]):
            yield at, place, bool(found[1])
            if found[1]:
                return


def check_quotation(
    body: tuple[str, ...], place: Place, heading: Heading | None, context: Context
) -> Verdict:
    """Whether the lines are those of the file, indentation as a whole left out."""
    path = file_of(place, context, context.near(heading))
    if isinstance(path, Verdict):
        return path
    lines = context.sources.lines(path) or ()
    source = lines[place.start - 1 : place.last]
    if _dedented(body) == _dedented(source):
        return supported(path)
    wanted, shown = _dedented(source).split("\n"), _dedented(body).split("\n")
    pairs = enumerate(zip(shown, wanted, strict=False))
    offset, differs = next(((at, pair[1]) for at, pair in pairs if pair[0] != pair[1]), (len(wanted), ""))
    return contradicted(f"line {place.start + offset} of {path} reads: {differs.strip()!r}", path)


def _dedented(lines: tuple[str, ...]) -> str:
    return textwrap.dedent("\n".join(as_shown(line).expandtabs(4).rstrip() for line in lines)).strip("\n")


def _signatures(
    fence: Fence, at: int, body: tuple[str, ...], place: Place, context: Context
) -> Iterator[Found]:
    line = fence.line + 1 + at
    exists = check_lines(place, context, context.near(fence.heading))
    if exists.state != "supported" or exists.file not in context.sources.files:
        yield Found(line, "signature", str(place), exists)
        return
    path = exists.file
    python = context.sources.files[path].language == "python"
    here = [Target(path, one) for one in context.sources.files[path].definitions]
    there = [one for one in here if _is_at(one, place)]
    shown = list(_statements(body)) if python else [(0, "", "\n".join(body))]
    if not there:
        name = shown[0][1] if shown else ""
        truth = [one for one in here if one.definition.name == name] if name else []
        said = f"{name} is at {_lines(truth[0])}" if truth else "nothing is defined at exactly these lines"
        yield Found(line, "signature", str(place), contradicted(f"{said} of {path}", path))
        return
    for index, (offset, name, text) in enumerate(shown):
        among = there if index == 0 else [one for one in here if one.definition.name == name]
        verdict = _check_signature(text, among, python, path)
        yield Found(line + 1 + offset, "signature", f"{' '.join(text.split())[:100]} at {place}", verdict)
    if python:
        yield from _decorators(line, body, there, place, path)


def _is_at(target: Target, place: Place) -> bool:
    span, decorated = target.definition.span, target.definition.decorated
    return (place.start, place.last) in ((span.start, span.end), (decorated.start, decorated.end))


def _lines(target: Target) -> str:
    span = target.definition.span
    return f"{span.start}-{span.end}"


def _check_signature(text: str, among: list[Target], python: bool, path: str) -> Verdict:
    sources = [printable(one.definition.signature) for one in among]
    if any(same_signature(text, one, python) for one in sources):
        return supported(path)
    return contradicted(f"it is `{sources[0]}`" if sources else f"{path} defines no such name", path)


def _decorators(
    line: int, body: tuple[str, ...], there: list[Target], place: Place, path: str
) -> Iterator[Found]:
    written = [one.lstrip("@") for target in there for one in target.definition.decorators]
    for offset, text in enumerate(body):
        if _DEFINITION.match(text):
            return
        if (found := _DECORATOR.match(text)) and not found[1].rstrip().endswith(("(", ",")):
            holds = any(same_text(found[1], one) for one in written)
            verdict = supported(path) if holds else contradicted(f"its decorators are {written}", path)
            yield Found(line + 1 + offset, "signature", f"{text.strip()} at {place}", verdict)


def _statements(body: tuple[str, ...]) -> Iterator[tuple[int, str, str]]:
    """Each `def` or `class` of a block up to the colon that ends it: index of its line, name, text."""
    at = 0
    while at < len(body):
        found = _DEFINITION.match(body[at])
        if found is None:
            at += 1
            continue
        begin, depth, text = at, 0, ""
        while at < len(body):
            text += ("\n" if text else "") + body[at]
            depth += _opened(body[at])
            at += 1
            if depth <= 0:
                break
        yield begin, found[1], text


def _opened(line: str) -> int:
    bare = re.sub(r"\"[^\"]*\"|'[^']*'|#.*$", "", line)
    return sum(map(bare.count, "([{")) - sum(map(bare.count, ")]}"))


def _example(fence: Fence, context: Context) -> Iterator[Found]:
    code = _without_prompts(fence)
    if not code.strip():
        return
    tree = _parsed(code)
    if isinstance(tree, str):
        verdict = _not_parsed(code, tree, fence)
        yield Found(fence.line, "code", f"{fence.language} example of {len(fence.lines)} lines", verdict)
        return
    yield Found(fence.line, "code", f"{fence.language} example of {len(fence.lines)} lines", supported())
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from _imports(node, fence, context)


def _without_prompts(fence: Fence) -> str:
    lines = textwrap.dedent(fence.text).split("\n")
    if not any(line.startswith(">>>") for line in lines):
        return "\n".join(lines)
    return "\n".join(line[4:] if line.startswith((">>>", "...")) else "" for line in lines)


def _parsed(code: str) -> ast.Module | str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(code)
        except SyntaxError as error:
            return f"line {error.lineno}: {error.msg}"
        except (ValueError, RecursionError, MemoryError) as error:
            return str(error)


def _not_parsed(code: str, message: str, fence: Fence) -> Verdict:
    if _MAGIC.search(code):
        return unverified("it holds commands of a notebook or shell")
    if _parses_when_newer(code):
        return supported()
    if re.search(r"^\s*(?:\.\.\.|…)|<[\w ]+>|\[\.\.\.\]", code, re.MULTILINE):
        return unverified(f"parts are left out ({message})")
    return contradicted(f"it does not parse, {message}")


def _parses_when_newer(code: str) -> bool:
    """Whether LibCST takes what the `ast` of this Python does not: syntax of later versions."""
    from libcst import parse_module

    from forwardbook.analyzers.index.libcst_statements import NOT_TAKEN

    try:
        parse_module(code)
    except (*NOT_TAKEN, RecursionError, ValueError):
        return False
    return True


def _imports(node: ast.Import | ast.ImportFrom, fence: Fence, context: Context) -> Iterator[Found]:
    line = fence.line + node.lineno
    packages = context.names.packages
    if isinstance(node, ast.Import):
        for one in node.names:
            if one.name.partition(".")[0] in packages:
                verdict = _module(one.name, context)
                yield Found(line, "import", f"import {one.name}", verdict)
        return
    module = node.module or ""
    if node.level or module.partition(".")[0] not in packages:
        return
    for one in node.names:
        verdict = _module(module, context)
        if verdict.state == "supported" and one.name != "*":
            verdict = _imported(module, one.name, context)
        yield Found(line, "import", f"from {module} import {one.name}", verdict)


def _module(module: str, context: Context) -> Verdict:
    if module in context.names.packages:
        return supported()
    known = module
    while known and known not in context.names.packages:
        known = known.rpartition(".")[0]
    return contradicted(f"there is no module {module}; {known} has no such part")


def _imported(module: str, name: str, context: Context) -> Verdict:
    names = context.names
    paths = names.by_module.get(module, ())
    if f"{module}.{name}" in names.packages or any(has_global(names, path, name) for path in paths):
        return supported(paths[0] if paths else "")
    facts = [context.sources.files[path] for path in paths]
    if not paths or any(one.name == "*" for fact in facts for one in fact.imports):
        return unverified(f"{module} takes names from elsewhere")
    if any(definition.name == "__getattr__" for fact in facts for definition in fact.definitions):
        return unverified(f"{module} makes names on demand")
    return contradicted(f"{paths[0]} has no {name}", paths[0])

"""A citation of lines in, with the symbol that it stands behind; whether those lines are the symbol's out."""

from __future__ import annotations

import re

from forwardbook.book.verify.claims import Kind, Verdict, contradicted, supported, unverified
from forwardbook.book.verify.context import Context
from forwardbook.book.verify.inline import Place
from forwardbook.book.verify.names import Target, clean, constants_of
from forwardbook.book.verify.symbols import SOURCE_SUFFIXES, looks_like_code


def file_of(place: Place, context: Context, near: tuple[str, ...] = ()) -> str | Verdict:
    """The file that a place means, of several the one in `near`, else a verdict on why there is none."""
    files = context.names.files_named(place.path)
    if len(files) > 1:
        files = tuple(path for path in near if path in files)[:1] or files
    if len(files) == 1:
        return files[0]
    if files:
        return unverified(f"{len(files)} files are called {place.path}")
    if context.sources.read(place.path) is not None:
        return place.path
    is_source = place.path.rpartition(".")[2] in SOURCE_SUFFIXES
    if context.strict or is_source:
        return contradicted(f"there is no file {place.path}")
    return unverified(f"there is no file {place.path}")


def check_lines(place: Place, context: Context, near: tuple[str, ...] = ()) -> Verdict:
    """Whether the lines exist."""
    path = file_of(place, context, near)
    if isinstance(path, Verdict):
        return path
    lines = context.sources.lines(path) or ()
    count = len(lines) - (1 if lines and not lines[-1] else 0)
    last = max(count, 1) if context.strict else len(lines)  # many editors number the empty line at the end
    if 1 <= place.start <= place.last <= last:
        return supported(path)
    return contradicted(f"{path} has {count} lines", path)


def check_citation(
    symbol: str, place: Place, context: Context, near: tuple[str, ...] = ()
) -> tuple[Kind, Verdict]:
    """Whether the lines are the span of the symbol; a single line may also be one that mentions it."""
    exists = check_lines(place, context, near)
    if exists.state != "supported":
        return "span", exists
    path, name = exists.file, clean(symbol)
    targets = _defined(path, name, context)
    spans = sorted(
        {(d.definition.span.start, d.definition.span.end) for d in targets}
        | {_decorated(d) for d in targets}
    )
    if (place.start, place.last) in spans:
        return "span", supported(path)
    if place.end is None:
        return "line", _check_mention(name, place, path, targets, context)
    if targets:
        truth = " or ".join(f"{start}-{end}" for start, end in spans)
        return "span", contradicted(f"{targets[0].qualname} is at {path}:{truth}", path)
    return "span", _check_other(symbol, name, place, path, context)


def _decorated(target: Target) -> tuple[int, int]:
    return target.definition.decorated.start, target.definition.decorated.end


def _defined(path: str, name: str, context: Context) -> list[Target]:
    names = context.names
    found = names.defined(path, name)
    if not found and "." in name:
        found = [one for one in names.targets(name, (path,)) if one.path == path and not one.is_file]
    return found


def _check_mention(name: str, place: Place, path: str, targets: list[Target], context: Context) -> Verdict:
    last = name.rpartition(".")[2]
    if place.start in [
        n for one in targets for n in (one.definition.span.start, one.definition.decorated.start)
    ]:
        return supported(path)
    places = lines_with(last, path, context)
    if place.start in places:
        return supported(path)
    if places:
        some = ", ".join(str(number) for number in places[:5]) + (", ..." if len(places) > 5 else "")
        return contradicted(f"{last} is not on that line of {path}, but on {some}", path)
    if not looks_like_code(name):
        return unverified(f"{last} is not written in {path}", path)
    return contradicted(f"{last} is not written in {path}", path)


def lines_with(word: str, path: str, context: Context) -> list[int]:
    """The numbers of the lines of a file that hold a word."""
    lines = context.sources.lines(path) or ()
    if not word.isidentifier():
        return [number for number, line in enumerate(lines, 1) if word in line]
    pattern = re.compile(rf"\b{re.escape(word)}\b")
    return [number for number, line in enumerate(lines, 1) if word in line and pattern.search(line)]


def _check_other(symbol: str, name: str, place: Place, path: str, context: Context) -> Verdict:
    facts = context.sources.files.get(path)
    if facts is None:
        return unverified(f"{path} has no facts", path)
    if symbol.strip("/") in (path, facts.module) or path.endswith("/" + symbol):
        if (place.start, place.last) == (1, max(facts.lines, 1)):
            return supported(path)
        return contradicted(f"{path} has lines 1-{facts.lines}", path)
    if constants := constants_of(facts, name):
        starts = [one.line for one in constants]
        if place.start in starts:
            return supported(path)
        return contradicted(f"{name} is bound at {path}:{starts[0]}", path)
    elsewhere = [one for one in context.names.targets(name) if not one.is_file]
    if elsewhere and (context.strict or looks_like_code(symbol)):
        one = elsewhere[0]
        span = one.definition.span
        return contradicted(
            f"{name} is not defined in {path}, but at {one.path}:{span.start}-{span.end}", path
        )
    mentioned = any(
        place.start <= n <= place.last for n in lines_with(name.rpartition(".")[2], path, context)
    )
    if context.strict and name.replace(".", "_").isidentifier():
        return contradicted(f"{path} defines no {name}", path)
    return unverified(
        f"{path} defines no {name}" + (", but it is written there" if mentioned else ""), path
    )

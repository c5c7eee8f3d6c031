"""Named checks of a set: a survey and its written pages in; whether each holds, and by what evidence, out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from forwardbook.book.inline import code, plain
from forwardbook.book.repository.native import native_files
from forwardbook.book.repository.survey import Survey, public

_CITED = re.compile(r"^\| `([^`]+)` \|(?: [^|]* \|)*? `([^`]+):(\d+)-(\d+)` \|", re.MULTILINE)
_LAUNCHED = re.compile(r"\| launches \| `([^`]+)` \| `([^`]+):(\d+)`")


@dataclass(frozen=True, slots=True)
class Written:
    """A page as written, and how many of its claims came out how."""

    name: str
    markdown: str
    supported: int = 0
    unverified: int = 0
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Finding:
    """Whether a check holds; `evidence` is inline Markdown."""

    holds: bool
    evidence: str


Pages = Mapping[str, Written]
Rule = Callable[[Survey, Pages], Finding]


@dataclass(frozen=True, slots=True)
class Check:
    """A named check: `says` is what holds when it passes, `words` those of a requirement that it answers."""

    name: str
    says: str
    words: frozenset[str]
    rule: Rule = field(repr=False)


CHECKS: Final[dict[str, Check]] = {}


def check(name: str, says: str, words: str) -> Callable[[Rule], Rule]:
    """Enter a rule under its name; a second rule of the same name is refused."""

    def enter(rule: Rule) -> Rule:
        if name in CHECKS:
            raise ValueError(f"entering the check {name}: there is one of this name already")
        CHECKS[name] = Check(name, says, frozenset(words.split()), rule)
        return rule

    return enter


@check("claims", "No claim is contradicted by the source.", "accurate accuracy correct verified true")
def _claims(survey: Survey, pages: Pages) -> Finding:
    right = sum(page.supported for page in pages.values())
    open_ = sum(page.unverified for page in pages.values())
    left_out = sum(page.left_out for page in pages.values())
    told = f"{right} claims hold, {open_} cannot be told, {left_out} were left out"
    return Finding(right > 0, told)


@check(
    "documents",
    "The set is complete.",
    "document documents documentation architecture set write readme index",
)
def _documents(survey: Survey, pages: Pages) -> Finding:
    wanted = ("README.md", "STRUCTURE.md", "SUMMARY.md", "QUICK_REFERENCE.md")
    missing = [name for name in wanted if name not in pages]
    return Finding(not missing, f"missing: {', '.join(missing)}" if missing else "all documents are written")


@check(
    "map",
    "Every folder with source files is on the map.",
    "map structure organization organisation organized layout folder folders directory "
    "directories repository codebase overall tree overview architecture code project",
)
def _map(survey: Survey, pages: Pages) -> Finding:
    text = _text(pages, "STRUCTURE.md")
    held = {facts.path.rpartition("/")[0] or "." for facts in (*survey.code, *survey.tests)}
    missing = sorted(folder for folder in held if f"### {code(folder)}" not in text)
    return _all(len(held), missing, "folders with source files", "STRUCTURE.md")


@check(
    "files",
    "Every source file is listed with what it is for.",
    "file files module modules submodule submodules",
)
def _files(survey: Survey, pages: Pages) -> Finding:
    text = _text(pages, "STRUCTURE.md")
    files = [facts.path for facts in (*survey.code, *survey.tests)]
    return _all(
        len(files), [path for path in files if f"| {code(path)} |" not in text], "files", "STRUCTURE.md"
    )


@check(
    "api",
    "Every public class, function and method is listed with its exact lines.",
    "api apis public class classes function functions method methods symbol symbols "
    "exposed exposes expose reference line lines number numbers span spans definition definitions does",
)
def _api(survey: Survey, pages: Pages) -> Finding:
    listed = set(_CITED.findall(_text(pages, "SUMMARY.md")))
    wanted = [
        (each.qualname, facts.path, str(each.span.start), str(each.span.end))
        for facts in survey.code
        for each in public(facts)
    ]
    missing = [
        f"{path}:{start} {name}"
        for name, path, start, end in wanted
        if (name, path, start, end) not in listed
    ]
    return _all(len(wanted), missing, "public symbols", "SUMMARY.md")


@check(
    "traces",
    "Every user-facing function is traced down to where it stops, with the reason.",
    "trace traces tracing path paths flow level lowest user facing call calls walkthrough down",
)
def _traces(survey: Survey, pages: Pages) -> Finding:
    text = _text(pages, "SUMMARY.md").partition("\n## Traces")[2].partition("\n## ")[0]
    missing = [
        each.definition.qualname
        for each in survey.user_api
        if f"{code(each.definition.qualname)} (" not in text
    ]
    return _all(len(survey.user_api), missing, "user-facing definitions", "SUMMARY.md, Traces")


@check(
    "native",
    "Every kernel and every launch is listed.",
    "kernel kernels launch launches cuda native gpu grid block blocks stream streams binding bindings c++",
)
def _native(survey: Survey, pages: Pages) -> Finding:
    text = _text(pages, "SUMMARY.md")
    kernels = [
        (each.qualname, facts.path, str(each.span.start), str(each.span.end))
        for facts in native_files(survey)
        for each in facts.definitions
        if each.kind == "kernel"
    ]
    launches = [
        (one.kernel, facts.path, str(one.line))
        for facts in native_files(survey)
        for each in facts.definitions
        for one in each.launches
    ]
    if not kernels and not launches:
        return Finding(False, "no kernel was found in the source files")
    cited, launched = set(_CITED.findall(text)), set(_LAUNCHED.findall(text))
    missing = [name for name, *rest in kernels if (name, *rest) not in cited]
    missing += [kernel for kernel, *rest in launches if (kernel, *rest) not in launched]
    return _all(len(kernels) + len(launches), missing, "kernels and launches", "SUMMARY.md")


@check(
    "diagrams",
    "Diagrams show the structure, and each parses with Mermaid's own grammar.",
    "diagram diagrams visual visuals mermaid table tables markdown figure figures uml",
)
def _diagrams(survey: Survey, pages: Pages) -> Finding:
    count = sum(page.markdown.count("\n```mermaid\n") for page in pages.values())
    return Finding(count > 0, f"{count} diagrams")


@check(
    "examples",
    "Signatures and code stand as in the source.",
    "example examples snippet snippets annotated usage use signature signatures literate",
)
def _examples(survey: Survey, pages: Pages) -> Finding:
    found = re.findall(r"\n```(?:python|cpp)\n(?:#|//) (?:from )?\S+:\d+-\d+\n", _text(pages, "SUMMARY.md"))
    return Finding(bool(found), f"{len(found)} excerpts with their file and lines in SUMMARY.md")


@check(
    "downstream", "What imports the focus is listed.", "downstream used uses user users dependent consumers"
)
def _downstream(survey: Survey, pages: Pages) -> Finding:
    if not survey.focus:
        return Finding(False, "no part was asked for with --focus")
    return _section(pages, "## Who imports the focus")


@check(
    "outside",
    "What the focus calls outside of the repository is listed with its lines.",
    "torch external outside third party library libraries dependency dependencies numpy",
)
def _outside(survey: Survey, pages: Pages) -> Finding:
    if not survey.focus:
        return Finding(False, "no part was asked for with --focus")
    return _section(pages, "## What the focus calls outside")


@check(
    "focus", "The part in focus is treated file by file, with signatures.", "focus depth deep detail detailed"
)
def _focus(survey: Survey, pages: Pages) -> Finding:
    if not survey.focus:
        return Finding(False, "no part was asked for with --focus")
    text = _text(pages, "SUMMARY.md")
    missing = [facts.path for facts in survey.in_focus if public(facts) and code(facts.path) not in text]
    return _all(len(survey.in_focus), missing, "files in focus", "SUMMARY.md")


def findings(survey: Survey, pages: Pages) -> dict[str, Finding]:
    """Every check with what it found."""
    return {name: each.rule(survey, pages) for name, each in CHECKS.items()}


def built_in(survey: Survey) -> Iterator[Check]:
    """The checks that apply where no checklist was given."""
    for name, each in CHECKS.items():
        if name in ("downstream", "outside", "focus") and not survey.focus:
            continue
        if name == "native" and not native_files(survey):
            continue
        yield each


def _section(pages: Pages, heading: str) -> Finding:
    text = _text(pages, "SUMMARY.md").partition(f"\n{heading}")[2].partition("\n## ")[0]
    rows = text.count("\n| ") - 2
    return Finding(rows > 0, f"{max(rows, 0)} rows in SUMMARY.md")


def _all(count: int, missing: list[str], things: str, where: str) -> Finding:
    if not count:
        return Finding(False, f"no {things} were found")
    if missing:
        return Finding(
            False, f"{len(missing)} of {count} {things} missing in {where}, first {plain(missing[0])}"
        )
    return Finding(True, f"all {count} {things} are in {where}")


def _text(pages: Pages, name: str) -> str:
    return pages[name].markdown if name in pages else ""

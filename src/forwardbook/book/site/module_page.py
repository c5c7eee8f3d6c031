"""An entry and what belongs to it in, the page of its class out; every word of the database is escaped."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import Final

from forwardbook.book.blocks import Block, Bullets, Code, Diagram, Heading, Paragraph, Table
from forwardbook.book.inline import code, link, plain
from forwardbook.book.page import Page
from forwardbook.book.site.module_calculator import module_calculator
from forwardbook.book.site.module_flow import flow_diagram
from forwardbook.book.site.module_lines import module_listing
from forwardbook.book.site.module_proof import proof_blocks
from forwardbook.book.site.module_subject import ModuleSubject
from forwardbook.saying import TIMES, together
from forwardbook.schema import QUANTITIES, Entry, Regime

LONG: Final = 4000
"""Characters of a formula up to which it is typeset; a longer one is shown as text."""

VERDICTS: Final = {
    "exact": "measurement and formulas agree in every number",
    "bounded": "a symbol of the data remains; its range is stated",
    "assumed": "a branch on data was decided; the assumptions say how",
    "pinned": "it holds at fixed numbers of a size that callers choose, or was measured there alone",
    "wrong": "measurement refutes the formulas",
    "unproved": "no measurement confirms it, or a judge disagrees",
}


def module_page(subject: ModuleSubject) -> Page:
    """The page of a class; it is found by the search of the site through the list of titles alone."""
    blocks = tuple(_blocks(subject))
    return Page(page_stem(subject.key) + ".md", {"search": {"exclude": "true"}}, blocks)


def page_stem(key: str) -> str:
    """The name of a page's file without its ending: the key where an address keeps it, else a name like it.

    >>> page_stem("llama-3.1-8b"), page_stem("my lib_Klass")
    ('llama-3.1-8b', 'my_lib_Klass-15dbd933')
    """
    if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", key):
        return key
    digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{re.sub('[^A-Za-z0-9_-]', '_', key)}-{digest}"


def _blocks(subject: ModuleSubject) -> Iterator[Block]:
    entry, holder = subject.entry, subject.holder
    module = entry.full_class_name.rpartition(".")[0]
    yield Heading(1, plain(entry.class_name) or code(subject.key))
    yield Paragraph(f"{link('Catalogue', '../catalogue.md')} › {plain(entry.library)} › {plain(module)}")
    yield Bullets(tuple(_facts(subject)))
    if not holder.regimes:
        yield Paragraph(
            "No formulas are stored: what is missing is listed below, and nothing counts as zero."
        )
    if holder.regimes:
        yield Heading(2, "Calculator")
        yield Code("fb-calc", module_calculator(subject).as_json())
        yield Heading(2, "Formulas")
        for regime in holder.regimes:
            yield from _regime(regime, len(holder.regimes) > 1)
        yield Heading(2, "Source and its costs")
        yield Code("fb-lines", module_listing(subject).as_json())
        yield from _flow(holder)
        yield from _calls(subject)
    yield from _parameters(holder)
    yield from _unresolved(entry)
    yield from proof_blocks(holder)
    yield from _reasoning(holder)
    if holder.regimes:
        yield Heading(2, "From Python")
        yield Code("python", _example(subject))


def _facts(subject: ModuleSubject) -> Iterator[str]:
    entry, place = subject.entry, subject.entry.code_location
    verdict = entry.validation.verdict
    yield f"Class: {code(entry.full_class_name)}, key {code(subject.key)}"
    reason = f": {plain(entry.validation.reason)}" if entry.validation.reason else ""
    yield f"Verdict: **{verdict}** ({VERDICTS[verdict]}){reason}"
    yield f"Checked by a person: {'yes' if entry.validation.human_validated else 'not yet'}"
    if entry.derived_by:
        yield f"Derived by: {plain(', '.join(entry.derived_by))}"
    if entry.proposal is not None:
        yield f"Proposed by: {plain(entry.proposal.model)}, then measured"
    yield f"Source: {code(f'{place.file}:{place.line_start}-{place.line_end}')}"
    if entry.versions:
        yield "Versions: " + ", ".join(
            f"{plain(name)} {plain(text)}" for name, text in sorted(entry.versions.items())
        )
    if entry.same_as:
        target = link(code(entry.same_as), f"{page_stem(entry.same_as)}.md")
        yield f"Its forward() is the same as that of {target}, whose formulas are shown"
    if entry.generated_class_name:
        file = code(f"generated_modules/{entry.generated_file_name}")
        yield f"Calculator: {code(entry.generated_class_name)} in {file}"
    if subject.explained:
        yield link("The source file, explained", subject.explained)


def _regime(regime: Regime, several: bool) -> Iterator[Block]:
    if several:
        yield Heading(3, f"Regime: {plain(regime.name)}")
    if regime.context:
        yield Paragraph(plain(regime.context[:1].upper() + regime.context[1:]) + ".")
    if regime.given:
        yield Paragraph(f"Given {', or '.join(code(one) for one in regime.given if one) or 'nothing'}.")
    if regime.conditions:
        yield Paragraph("Holds when:")
        yield _formulas(list(regime.conditions))
    if regime.assumptions:
        yield Paragraph("Assumes:")
        yield Bullets(tuple(plain(each) for each in together(regime.assumptions)))
    yield Paragraph("Cost of one call:")
    yield _formulas([f"{name} = {regime.formula(name)}" for name in QUANTITIES])


def _formulas(lines: list[str]) -> Block:
    """The lines typeset; those that are too long for it as text."""
    return (
        Code("math", "\n".join(lines))
        if all(len(line) <= LONG for line in lines)
        else Code("text", "\n".join(lines))
    )


def _flow(entry: Entry) -> Iterator[Block]:
    diagram = flow_diagram(entry.regimes[0].flop_analysis.lines, entry.class_name)
    if diagram:
        yield Heading(2, "Data flow")
        yield Diagram(diagram)


def _calls(subject: ModuleSubject) -> Iterator[Block]:
    rows: dict[tuple[str, ...], None] = {}
    for regime in subject.holder.regimes:
        for call in regime.flop_analysis.submodule_calls:
            page = subject.pages.get(call.class_name)
            name = code(call.class_name)
            bindings = ", ".join(
                f"{plain(name)} = {code(_bare(text))}" for name, text in call.bindings.items()
            )
            rows[
                str(call.line),
                code(call.attribute),
                link(name, page) if page else name,
                code(_bare(call.times)),
                bindings,
            ] = None
    if rows:
        yield Heading(2, "Calls of submodules")
        yield Table(("Line", "Attribute", "Class", "Times", "With"), tuple(rows))
        yield Paragraph(f"Times: {TIMES}.")


def _parameters(entry: Entry) -> Iterator[Block]:
    if entry.parameters:
        yield Heading(2, "Parameters")
        rows = tuple((code(each.name), plain(each.meaning), code(each.source)) for each in entry.parameters)
        yield Table(("Name", "Meaning", "Where its value comes from"), rows)


def _unresolved(entry: Entry) -> Iterator[Block]:
    yield Heading(2, "Unresolved")
    if not entry.unresolved:
        yield Paragraph("Nothing: every operation that the calls above issue has a cost.")
        return
    yield Paragraph("Not counted, and not zero:")
    rows = tuple(
        (code(f"{each.file}:{each.line}"), code(each.operation), plain(each.reason))
        for each in entry.unresolved
    )
    yield Table(("Place", "Operation", "Reason"), rows)


def _reasoning(entry: Entry) -> Iterator[Block]:
    said: dict[str, None] = {}
    for regime in entry.regimes:
        for text in (regime.flop_analysis.reasoning, regime.memory_analysis.reasoning):
            if text.strip():
                said[text] = None
    if said:
        yield Heading(2, "Reasoning")
        yield from (Paragraph(plain(text)) for text in said)


def _example(subject: ModuleSubject) -> str:
    name = subject.entry.class_name if subject.entry.class_name.isidentifier() else subject.key
    return (
        "from forwardbook import registry\n\n"
        f"calculator = registry.load({subject.key!r})  # {re.sub('[^A-Za-z0-9_]', '', name)}\n"
        "calculator.get_required_parameters()\n"
        f"calculator.flops({', '.join(f'{each}=...' for each in subject.holder.regimes[0].parameters)})"
    )


def _bare(formula: str) -> str:
    return formula.replace("{", "").replace("}", "")

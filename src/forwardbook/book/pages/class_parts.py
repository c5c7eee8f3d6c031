"""One class as blocks: what it is, attributes, lifecycle, special methods, then its methods."""

from __future__ import annotations

import re
from collections.abc import Iterator

from forwardbook.analyzers.detail.facts import ClassDetail, FunctionDetail
from forwardbook.book.blocks import Block, Heading, Paragraph
from forwardbook.book.inline import clip, code, codes, plain, prose
from forwardbook.book.pages.functions import decorator_text, function, signature, unmarked, words
from forwardbook.book.pages.section import SectionFacts, expression, first_sentence, table

_DOTTED = re.compile(r"[A-Za-z_][\w.]*")
_CONSTRUCTORS = frozenset({"__init__", "__new__", "__call__"})


def class_parts(facts: SectionFacts, one: ClassDetail, level: int = 3) -> Iterator[Block]:
    """All that is known of a class, under a heading with its name."""
    yield Heading(level, code(one.qualname))
    yield signature(facts, one.signature, one.span)
    yield from words(one.docstring, one.summary)
    yield from _bases(one)
    rows = [
        (decorator_text(each.text), unmarked(each.effect), facts.at(each.line)) for each in one.decorators
    ]
    yield from table(("Decorator", "Effect", "Where"), rows)
    yield from _attributes(facts, one)
    yield from _life(one)
    yield from _magic(facts, one)
    methods = [each for each in facts.detail.functions if each.parent == one.qualname]
    shown = [each for each in methods if is_shown(each)]
    others = [each for each in methods if not is_shown(each)]
    if facts.is_brief:
        yield from _listed(facts, shown, "Method")
    else:
        for each in shown:
            yield from function(facts, each, level + 1)
    yield from _listed(facts, others, "Internal method")


def is_shown(one: FunctionDetail) -> bool:
    """Whether a method is described by itself: public ones and constructors."""
    return one.is_public and (not one.magic or one.name in _CONSTRUCTORS) or one.name in _CONSTRUCTORS


def _bases(one: ClassDetail) -> Iterator[Block]:
    bases = [re.sub(r"\[.*\]$", "", each) for each in one.bases if "=" not in each]
    named = [each for each in bases if _DOTTED.fullmatch(each)]
    nature = [plain(each) for each in one.nature if each not in bases]
    said = [f"{code(one.qualname)} inherits from {codes(named)}."] if named else []
    said += [f"Kind: {', '.join(nature)}."] if nature else []
    if said:
        yield Paragraph(" ".join(said))


def _attributes(facts: SectionFacts, one: ClassDetail) -> Iterator[Block]:
    rows = [
        (
            code(each.name),
            expression(each.annotation, 40),
            expression(each.value, 40),
            facts.at(each.line),
            prose(clip(each.meaning, 160)),
        )
        for each in one.attributes
    ]
    yield from table(("Attribute", "Type", "Value", "Where", "Meaning"), rows, "Attributes")


def _life(one: ClassDetail) -> Iterator[Block]:
    phases = [each for each in one.lifecycle if each.methods]
    if len(phases) > 1:
        steps = "; ".join(f"{each.name}: {codes(each.methods[:6])}" for each in phases)
        yield Paragraph(f"**Lifecycle**: {steps}.")


def _magic(facts: SectionFacts, one: ClassDetail) -> Iterator[Block]:
    rows = [
        (code(name), unmarked(called), facts.at(line))
        for name, line, called in one.magic
        if name not in _CONSTRUCTORS
    ]
    yield from table(("Special method", "Called by", "Where"), rows)


def _listed(facts: SectionFacts, methods: list[FunctionDetail], title: str) -> Iterator[Block]:
    rows = [
        (code(each.qualname), facts.over(each.span), prose(first_sentence(each.docstring or each.summary)))
        for each in methods
        if not each.magic or title == "Method"
    ]
    yield from table((title, "Where", "What it does"), rows, f"{title}s")

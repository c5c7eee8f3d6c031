"""One function or method as blocks: signature, parameters, returns, raises, side effects and decorators."""

from __future__ import annotations

from collections.abc import Iterator

from forwardbook.analyzers.detail.facts import FunctionDetail, ParameterDetail, Raise
from forwardbook.analyzers.index.facts import Span
from forwardbook.book.blocks import Block, Code, Details, Heading, Paragraph, Quote, Table, note
from forwardbook.book.inline import clip, code, plain, prose
from forwardbook.book.pages.section import SectionFacts, expression, sentence, table

_MOST_VALUES = 4
_SAID = frozenset({"classmethod", "staticmethod", "property", "abstractmethod", "abc.abstractmethod"})
_IMPLIED = frozenset({"self", "cls"})


def function(facts: SectionFacts, one: FunctionDetail, level: int = 3) -> Iterator[Block]:
    """All that is known of a function, under a heading with its name."""
    yield Heading(level, code(one.qualname))
    yield signature(facts, one.signature, one.span)
    if _traits(one):
        yield Paragraph(_traits(one))
    yield from words(one.docstring, one.summary)
    yield from _parameters(one)
    yield from _returns(facts, one)
    yield from _raises(facts, one)
    yield from _effects(facts, one)
    yield from decorators(facts, one)


def signature(facts: SectionFacts, written: str, span: Span) -> Code:
    """A signature as it stands in the source, line breaks kept, with its exact lines above."""
    ending = "" if written.rstrip().endswith((":", "...")) else ": ..."
    return Code("python", written.rstrip() + ending, f"{facts.shown}:{span.start}-{span.end}")


def words(docstring: str, summary: str) -> Iterator[Block]:
    """The docstring's summary as a quotation, and the whole of it folded away where it says more."""
    summary = summary or docstring.strip().split("\n\n")[0]
    if len(summary.split()) > 1 or not summary.rstrip().endswith(":"):
        yield Quote(clip(summary, 500))
    rest = docstring.strip()
    if len(rest.split()) > len(summary.split()) + 3:
        yield Details("Docstring in full", (Code("text", rest),))


def _traits(one: FunctionDetail) -> str:
    traits: list[str] = [one.kind] if one.kind not in ("function", "method") else []
    traits += ["async"] * one.is_async + ["generator"] * one.is_generator + ["abstract"] * one.is_abstract
    called = f"called by {unmarked(one.magic)}" if one.magic and one.name != "__init__" else ""
    words = ", ".join(each for each in (*traits, called) if each)
    return sentence(words[:1].upper() + words[1:]) if words else ""


def _parameters(one: FunctionDetail) -> Iterator[Block]:
    rows = [
        (parameter_name(each), code(each.annotation), code(each.default), _meaning(each))
        for number, each in enumerate(one.parameters)
        if not (number == 0 and each.name in _IMPLIED)
    ]
    if any(any(row[1:]) for row in rows):
        width = 4 if any(row[3] for row in rows) else 3
        yield Table(("Parameter", "Type", "Default", "Meaning")[:width], tuple(row[:width] for row in rows))


def parameter_name(one: ParameterDetail) -> str:
    """The name with the stars it is written with."""
    return code(f"{one.kind if one.kind in ('*', '**') else ''}{one.name}")


def _meaning(one: ParameterDetail) -> str:
    documented = f"({prose(one.documented_type)}) " if one.documented_type and not one.annotation else ""
    return f"{documented}{prose(clip(one.meaning, 240))}".strip()


def _returns(facts: SectionFacts, one: FunctionDetail) -> Iterator[Block]:
    found = one.returns
    kind = code(found.annotation) or plain(found.documented_type)
    meaning = prose(clip(found.meaning, 300))
    values = found.yields or found.values
    shown = list(dict.fromkeys(expression(each.text) for each in values if each.text))
    verb = "Yields" if found.yields else "Returns"
    if kind and meaning:
        yield note(verb, sentence(f"{kind}: {meaning}"))
    elif (kind and kind != "`None`") or meaning:
        yield note(verb, sentence(meaning or kind))
    elif shown:
        more = " and others" if len(shown) > _MOST_VALUES else ""
        yield note(verb, sentence(f"{', '.join(shown[:_MOST_VALUES])}{more}"))


def _raises(facts: SectionFacts, one: FunctionDetail) -> Iterator[Block]:
    yield from table(
        ("Raises", "When", "Where"), [raise_row(facts, each) for each in one.raises if each.exception]
    )


def raise_row(facts: SectionFacts, one: Raise) -> tuple[str, str, str]:
    """An exception, the condition or the docstring's words for it, and the line."""
    exception = _exception(one.exception.partition("(")[0].strip(), one)
    if one.condition:
        is_known = facts.conditions.get(one.line) == one.condition
        when = expression(one.condition, 90) if is_known else plain(clip(one.condition, 90))
        return exception, when, facts.at(one.line)
    said = prose(clip(one.meaning, 160)) or (
        f"message {expression(one.message, 70)}" if one.message else "always"
    )
    return exception, f"{said} (docstring)" if one.line == 0 else said, facts.at(one.line)


def _exception(written: str, one: Raise) -> str:
    if one.is_reraise and not written:
        return "the exception caught"
    return code(written) if one.line else plain(written)


def _effects(facts: SectionFacts, one: FunctionDetail) -> Iterator[Block]:
    rows = [
        (plain(each.kind), facts.quoted(each.text, each.line), facts.at(each.line)) for each in one.effects
    ]
    yield from table(("Side effect", "How", "Where"), rows, "Side effects")


def decorators(facts: SectionFacts, one: FunctionDetail) -> Iterator[Block]:
    """The decorators and what they do."""
    rows = [
        (decorator_text(each.text), unmarked(each.effect), facts.at(each.line))
        for each in one.decorators
        if each.text not in _SAID
    ]
    yield from table(("Decorator", "Effect", "Where"), rows)


def decorator_text(written: str) -> str:
    """A decorator with its arguments, a long one without."""
    name, bracket, _ = written.partition("(")
    return code(f"@{written}" if len(written) < 60 or not bracket else f"@{name}(…)")


def unmarked(text: str) -> str:
    """Words that hold code of nobody's (`x[key]`), as plain text."""
    return plain(text.replace("`", ""))

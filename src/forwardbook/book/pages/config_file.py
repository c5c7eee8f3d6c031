"""The page of a configuration file: its keys with types and values, and its beginning as an example."""

from __future__ import annotations

from collections.abc import Iterator

from forwardbook.book.blocks import Block, Code, Paragraph, Table
from forwardbook.book.inline import code, plain
from forwardbook.book.pages.kind import LANGUAGES
from forwardbook.book.pages.section import SectionFacts, expression, section, table

_EXAMPLE_LINES = 40
_MOST_WIDTH = 160
_FENCES = {"yaml": "yaml", "json": "json", "toml": "toml", "cmake": "cmake"}


def config_summary(facts: SectionFacts) -> tuple[Block, ...]:
    """What the file configures, by its outermost keys."""
    names = list(dict.fromkeys(each.name.partition(".")[0] for each in facts.facts.constants))
    shown = ", ".join(plain(each) for each in names[:8]) + (" and more" if len(names) > 8 else "")
    kind = "build file" if facts.facts.language == "cmake" else "configuration file"
    what = f"A {LANGUAGES[facts.facts.language]} {kind}"
    return section(
        "Summary", [Paragraph(f"{what} with the keys {shown}." if names else f"{what} without keys.")]
    )


def config_metadata(facts: SectionFacts) -> tuple[Block, ...]:
    """Path, language and length."""
    one = facts.facts
    rows = (("Path", code(facts.path)), ("Language", LANGUAGES[one.language]), ("Type", "configuration"))
    sizes = Table(("What", "Count", "Scope"), (("Lines", str(one.lines), code(one.path)),))
    return section("Metadata", (Table(("Property", "Value"), rows), sizes))


def keys(facts: SectionFacts) -> tuple[Block, ...]:
    """Every key with its type and value."""
    rows = [
        (plain(each.name), plain(each.annotation), expression(each.value, 60), facts.at(each.line))
        for each in facts.facts.constants
    ]
    return section("Keys", table(("Key", "Type", "Value", "Where"), rows[:400], "Keys"))


def config_example(facts: SectionFacts) -> tuple[Block, ...]:
    """The first lines of the file as they stand."""
    return section("Example", _quoted(facts))


def _quoted(facts: SectionFacts) -> Iterator[Block]:
    lines = facts.data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    short = lines[:_EXAMPLE_LINES]
    while short and not short[-1].strip():
        short.pop()
    if short and max(map(len, short)) <= _MOST_WIDTH and "\0" not in "".join(short):
        language = _FENCES.get(facts.facts.language, "text")
        yield Code(language, "\n".join(short), f"from {facts.shown}:1-{len(short)}")

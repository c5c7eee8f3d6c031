"""The command lines of a file: options in a table, and an example of a call."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from forwardbook.analyzers.detail.facts import Command, Option
from forwardbook.book.blocks import Block, Code, Heading, Paragraph
from forwardbook.book.inline import clip, code, plain, prose
from forwardbook.book.pages.section import SectionFacts, expression, section, sentence, table

_SAMPLES = {"int": "1", "float": "0.5", "bool": "true"}
_LITERAL = re.compile(r"^[rbfRBF]{0,2}[\"\']|.*[\"\'] [+%] ")


def commands(facts: SectionFacts) -> tuple[Block, ...]:
    """Every command with its options."""
    several = len(facts.detail.commands) > 1
    blocks = [block for each in facts.detail.commands for block in _command(facts, each, several)]
    return section("Command line", blocks)


def _command(facts: SectionFacts, one: Command, several: bool) -> Iterator[Block]:
    if several:
        title = f"Command {code(one.name)}" if one.name else f"Command line at line {one.line}"
        yield Heading(3, f"Command line of {code(one.function)}" if one.function and not one.name else title)
    said = f": {_help(one.help)}" if one.help else ""
    yield Paragraph(sentence(f"Read with {plain(one.framework)} at {facts.at(one.line)}{said}"))
    rows = [_option(facts, each) for each in one.options]
    yield from table(("Option", "Type", "Default", "Meaning", "Where"), rows)
    yield Paragraph("Example, made from the options above:")
    yield Code("bash", example(facts, one))


def _help(text: str) -> str:
    """The words as they are shown to users; where these are put together, the code that does it."""
    return expression(text, 120) if _LITERAL.match(text) else prose(clip(text, 240))


def _option(facts: SectionFacts, one: Option) -> tuple[str, str, str, str, str]:
    kind = code(one.type) if one.type else "flag" if one.is_flag else ""
    default = "required" if one.required else expression(one.default, 40)
    choices = f"One of {expression(one.choices, 80)}. " if one.choices else ""
    names = " ".join(code(each) for each in one.flags) or code(one.name)
    return (
        names,
        kind,
        default,
        f"{choices}{_help(one.help)}".strip(),
        facts.at(facts.line_of(one.flags[0] if one.flags else one.name, one.line)),
    )


def example(facts: SectionFacts, one: Command) -> str:
    """A call with every required option, and with up to two others."""
    words = (
        ["python", facts.path]
        if not facts.path.endswith("__main__.py")
        else ["python", "-m", _package(facts)]
    )
    words += [one.name] if one.name else []
    arguments = [each for each in one.options if each.is_argument]
    options = [each for each in one.options if not each.is_argument and each.required]
    spare = [each for each in one.options if not each.is_argument and not each.required and each.flags]
    words += [_sample(each) for each in arguments]
    for each in [*options, *spare[: 2 if not options else 1]]:
        words.append(_longest(each) if one.framework != "hydra" else f"{each.flags[0]}={_sample(each)}")
        words += [] if each.is_flag or one.framework == "hydra" else [_sample(each)]
    return " ".join(shlex.quote(clip(each, 60)) for each in words)


def _package(facts: SectionFacts) -> str:
    return facts.facts.module.removesuffix(".__main__")


def _longest(one: Option) -> str:
    return max(one.flags, key=len) if one.flags else f"--{one.name}"


def _sample(one: Option) -> str:
    choices = one.choices.strip("[](){} ").split(",")[0].strip().strip("'\"")
    if choices:
        return choices
    default = one.default.strip().strip("'\"")
    if (
        default
        and default.isprintable()
        and default not in ("None", "...")
        and not set(default) & set("()[]{}")
    ):
        return default
    kind = one.type.partition(",")[0]
    return _SAMPLES.get(kind, (one.name or _longest(one)).lstrip("-").replace("-", "_").upper())

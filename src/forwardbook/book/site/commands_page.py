"""What commands say of themselves in, the page of the command reference out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from forwardbook.book.blocks import Block, Code, Heading, Paragraph, Table
from forwardbook.book.inline import code, marked
from forwardbook.book.page import Page


@dataclass(frozen=True, slots=True)
class CommandHelp:
    """A command: how it is called, what it does, and its arguments and options with their help."""

    name: str
    usage: str
    text: str
    options: tuple[tuple[str, str], ...]


def commands_page(commands: Sequence[CommandHelp]) -> Page:
    """The page, one section for each command."""
    return Page("commands.md", {"title": "Commands"}, tuple(_blocks(commands)))


def _blocks(commands: Sequence[CommandHelp]) -> Iterator[Block]:
    yield Heading(1, "Commands")
    yield Paragraph(
        "Made from the commands themselves. An error is a message on standard error and exit code 1, "
        "wrong usage 2, an interruption 130."
    )
    for command in commands:
        yield Heading(2, code(f"forwardbook {command.name}"))
        yield from (Paragraph(marked(part)) for part in command.text.split("\n\n") if part.strip())
        yield Code("text", command.usage)
        if command.options:
            yield Table(
                ("Argument or option", "Meaning"),
                tuple((code(name), marked(text)) for name, text in command.options),
            )

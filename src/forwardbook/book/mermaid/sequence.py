"""Messages between participants in, the text of a Mermaid `sequenceDiagram` out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from forwardbook.book.mermaid.labels import NAME_WIDTH, label

MAX_MESSAGES: Final = 40
"""More than this in one diagram is split by whoever builds it."""


@dataclass(frozen=True, slots=True)
class Message:
    """A call from one participant to another, named by their labels.

    `line` is that of the call, `opens` the qualname of the callee where it stands in the same file, and
    `is_outside` says that the callee is not of the repository.
    """

    source: str
    target: str
    text: str
    line: int = 0
    opens: str = ""
    is_outside: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a frame: the condition or header, and what is sent there."""

    text: str
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame around messages; a `loop` and an `opt` have one part."""

    kind: Literal["loop", "alt", "opt", "par"]
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Body:
    """What a callee sends in turn, while it is active; it stands behind the message that called it."""

    actor: str
    items: tuple[Item, ...]


Item = Message | Frame | Body
_NEXT: Final = {"alt": "else", "par": "and"}


def sequence_diagram(items: tuple[Item, ...], participants: tuple[str, ...] = ()) -> str:
    """The diagram; participants are declared in the given order, then in that of their first message."""
    names = dict.fromkeys((*participants, *(name for each in messages(items) for name in _ends(each))))
    aliases = {name: f"P{number}" for number, name in enumerate(names, 1)}
    lines = ["sequenceDiagram"]
    lines += [f"    participant {alias} as {label(name, NAME_WIDTH)}" for name, alias in aliases.items()]
    lines += [f"    {line}" for line in _lines(items, aliases)]
    return "\n".join(lines)


def messages(items: tuple[Item, ...]) -> Iterator[Message]:
    """Every message, those inside of frames too, in order."""
    for item in items:
        if isinstance(item, Message):
            yield item
        elif isinstance(item, Body):
            yield from messages(item.items)
        else:
            for part in item.parts:
                yield from messages(part.items)


def _ends(message: Message) -> tuple[str, str]:
    return message.source, message.target


def _lines(items: tuple[Item, ...], aliases: dict[str, str]) -> Iterator[str]:
    for item in items:
        if isinstance(item, Message):
            yield f"{aliases[item.source]}->>{aliases[item.target]}: {label(item.text, 80)}"
        elif isinstance(item, Body):
            yield f"activate {aliases[item.actor]}"
            yield from (f"    {line}" for line in _lines(item.items, aliases))
            yield f"deactivate {aliases[item.actor]}"
        else:
            word: str = item.kind
            for part in item.parts:
                yield word if word == part.text == "else" else f"{word} {label(part.text)}"
                yield from (f"    {line}" for line in _lines(part.items, aliases))
                word = _NEXT.get(item.kind, word)
            yield "end"

"""How far each library of a catalogue came in, a table of it and of the reasons out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from forwardbook.book.blocks import Block, Heading, Paragraph, Table
from forwardbook.book.inline import code, plain


@dataclass(frozen=True, slots=True)
class Hindrance:
    """Why classes are not exact: the reason in words, how many classes it touches, one place, one class."""

    reason: str
    classes: int
    place: str
    example: str


@dataclass(frozen=True, slots=True)
class Figures:
    """One library: its counts by their names, in order, and why classes are not exact."""

    library: str
    counts: tuple[tuple[str, str], ...]
    hindrances: tuple[Hindrance, ...] = ()


def figures_blocks(figures: Sequence[Figures]) -> Iterator[Block]:
    """A table with a row for each library, then for each the reasons; nothing where there is no library."""
    if not figures:
        return
    yield Heading(2, "The catalogue")
    yield Paragraph(
        "Found is every class with a forward() that reading the package finds; reached are those that a "
        "forward() that ran called. `forwardbook coverage` prints the same."
    )
    names = tuple(name for name, _ in figures[0].counts)
    yield Table(
        ("Library", *names), tuple((plain(one.library), *(v for _, v in one.counts)) for one in figures)
    )
    for one in figures:
        if one.hindrances:
            yield Heading(3, f"{plain(one.library)}: not exact because")
            rows = tuple(
                (
                    plain(each.reason),
                    str(each.classes),
                    code(each.place) if each.place else "",
                    code(each.example),
                )
                for each in one.hindrances
            )
            yield Table(("Reason", "Classes", "At", "Such as"), rows)

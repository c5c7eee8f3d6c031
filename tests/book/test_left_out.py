"""What does not hold is taken out of a page, and nothing else."""

from forwardbook.book.blocks import Block, Bullets, Code, Details, Diagram, Heading, Paragraph, Table
from forwardbook.book.left_out import without
from forwardbook.book.page import Page

TABLE = Table(("Name", "Line"), (("a", "1"), ("b", "2"), ("c", "3")))


def line_of(page: Page, text: str) -> int:
    """The line of the page's file, counted from 1, that holds a text."""
    return next(n for n, line in enumerate(page.markdown().split("\n"), 1) if text in line)


def left(text: str, *blocks: Block) -> tuple[Block, ...]:
    """The blocks of a page without what stands on the line of a text."""
    page = Page("p.md", {"path": "a.py", "sources": {"a.py": "12"}}, blocks)
    return without(page, {line_of(page, text)}).blocks


def test_of_a_table_the_row_goes() -> None:
    """The other rows stay, in front of it and behind it, at any place on the page."""
    before, after = Paragraph("first"), Paragraph("last")

    assert (before, Table(TABLE.head, (("a", "1"), ("c", "3"))), after) == left("| b |", before, TABLE, after)


def test_of_a_list_the_item_goes() -> None:
    """The other items stay."""
    assert (Bullets(("one", "three")),) == left("two", Bullets(("one", "two", "three")))


def test_of_a_diagram_the_message_goes() -> None:
    """A message goes alone; with a line that is none, such as a participant, the whole diagram goes."""
    text = "sequenceDiagram\n  participant A\n  A->>B: f()\n  A->>B: g()"

    assert (Diagram(text.replace("\n  A->>B: f()", "")),) == left("f()", Diagram(text))
    assert () == left("participant", Diagram(text))


def test_inside_what_is_folded_the_same_holds() -> None:
    """A row of a table that is folded away goes alone; where nothing is left, so does the fold."""
    folded = Details("More", (Paragraph("text"), TABLE))

    assert (Details("More", (Paragraph("text"), Table(TABLE.head, TABLE.rows[:2]))),) == left("| c |", folded)
    assert () == left("only", Details("More", (Paragraph("only"),)))


def test_a_heading_goes_with_what_is_below_it() -> None:
    """A heading that does not hold takes its section along, one that lost its section goes, too."""
    title, last = Heading(1, "Page"), (Heading(2, "B"), TABLE)
    section = (Heading(2, "A"), Code("python", "x = 1"))

    assert (title, *last) == left("## A", title, *section, Heading(3, "deep"), TABLE, *last)
    assert (title, *last) == left("x = 1", title, *section, *last)


def test_what_holds_stays() -> None:
    """Without a line that does not hold the page is the same."""
    page = Page("p.md", {}, (Heading(1, "Page"), TABLE))

    assert page == without(page, set())

"""The data flow of a file: sequence diagrams whose every message is a call edge, big flows in several."""

from __future__ import annotations

from collections.abc import Iterator

from forwardbook.analyzers.detail.steps import CallStep, Step
from forwardbook.analyzers.index.facts import Call
from forwardbook.book.blocks import Block, Details, Diagram, Heading, Paragraph
from forwardbook.book.inline import code, codes
from forwardbook.book.mermaid.flow import BUILT_IN, Flows, opened, split
from forwardbook.book.mermaid.sequence import Item, messages, sequence_diagram
from forwardbook.book.pages.section import SectionFacts, section, table

MOST = 40  # messages in one diagram
_OPEN = 3  # diagrams that are not folded away
_MOST_DIAGRAMS = 24
_SMALL = 2  # a flow with fewer messages is a row of a table


def data_flow(facts: SectionFacts) -> tuple[Block, ...]:
    """The flows of the file, largest public ones first."""
    flows = flows_of(facts)
    drawn: list[tuple[str, tuple[Item, ...]]] = []
    seen: set[str] = set()
    for name in _roots_first(facts, flows):
        if name in seen or _size(flows.items(name)) < _SMALL:
            continue
        items, inside = opened(flows, name, MOST)
        seen |= inside
        drawn.append((name, items))
    drawn.sort(key=lambda one: (_rank(facts, one[0]), -_size(one[1])))
    blocks = list(_diagrams(flows, drawn))
    rest = [name for name in flows.steps if name not in seen and flows.items(name)]
    if not blocks:
        blocks = list(_least(facts, flows, rest))
        rest = []
    return section("Data flow", (*blocks, *_further(facts, flows, rest)))


def _rank(facts: SectionFacts, name: str) -> int:
    """What a program does when it is run comes first, then public functions, constructors, private ones."""
    if not name:
        return 0 if facts.detail.entry or not facts.top else 3
    one = facts.detail.function(name)
    if one is None or (one.is_public and not one.magic):
        return 1
    return (
        2 if one.name in ("__init__", "__new__", "__post_init__") else 3 - (one.is_public or bool(one.magic))
    )


def flows_of(facts: SectionFacts) -> Flows:
    """The flow trees of the file with the edges out of each."""
    if facts.detail.parser == "none":
        steps = _straight(facts)
    else:
        steps = {each.qualname: each.flow for each in facts.detail.everywhere()}
    return Flows(
        facts.facts,
        steps,
        lambda name: facts.graph.edges_from(facts.path, name),
        facts.is_class,
        facts.context.around.is_actor,
    )


def _straight(facts: SectionFacts) -> dict[str, tuple[Step, ...]]:
    """The calls of each definition in a row, where nothing is known of loops and branches."""
    found: dict[str, tuple[Step, ...]] = {"": tuple(_step(each) for each in facts.facts.calls)}
    for one in facts.facts.definitions:
        launches = [Call(each.line, 0, each.kernel.partition("<")[0]) for each in one.launches]
        calls = sorted((*one.calls, *launches), key=lambda each: (each.line, each.column))
        found[one.qualname] = tuple(_step(each) for each in calls)
    return found


def _step(call: Call) -> CallStep:
    return CallStep(call.line, call.column, call.target, call.arguments)


def _roots_first(facts: SectionFacts, flows: Flows) -> list[str]:
    """The module's own level, functions that nothing here calls, then the rest; public ones before others."""
    called = {
        each.opens for name in flows.steps for each in messages(flows.items(name)) if each.opens != name
    }
    order = list(flows.steps)
    public = {each.qualname for each in facts.detail.functions if each.is_public or each.magic}

    def rank(name: str) -> tuple[bool, bool, bool, int]:
        return name != "", name in called, name not in public, order.index(name)

    return sorted(order, key=rank)


def _size(items: tuple[Item, ...]) -> int:
    return sum(1 for _ in messages(items))


def _diagrams(flows: Flows, drawn: list[tuple[str, tuple[Item, ...]]]) -> Iterator[Block]:
    if drawn:
        yield Paragraph(
            "Every message is a call in the source, with its arguments as written. Left out are calls of "
            "built-ins, calls whose target is only known at run time, and all but the first of calls of one "
            "outside function in a row."
        )
    for number, (name, items) in enumerate(drawn[:_MOST_DIAGRAMS]):
        pieces = split(items, MOST)
        title = f"Flow of {code(name)}" if name else "Flow when the module is loaded or run"
        actor = flows.participant(flows.facts.path, name)
        diagrams = [Diagram(sequence_diagram(piece, (actor,))) for piece in pieces]
        if number < _OPEN:
            yield Heading(3, title)
            yield from diagrams
        else:
            yield Details(title, tuple(diagrams))
    if len(drawn) > _MOST_DIAGRAMS:
        yield Paragraph(f"Not drawn: {codes([name for name, _ in drawn[_MOST_DIAGRAMS:]])}.")


def _least(facts: SectionFacts, flows: Flows, names: list[str]) -> Iterator[Block]:
    """One diagram where no flow is worth one by itself: the few messages there are, else who could act."""
    items = tuple(item for name in names for item in flows.items(name))[:MOST]
    classes = [each.qualname for each in facts.top if each.kind == "class"][:12]
    if not items:
        yield Paragraph(
            "No call of this file leads to a definition of the repository or of an imported package. "
            "The diagram shows the file and its classes only."
            if classes
            else "No call of this file leads to a definition of the repository or of an imported package."
        )
    else:
        yield Paragraph("The calls of this file, each from the class or file that it stands in:")
    actors = (facts.path, *classes) if not items else ()
    yield from (Diagram(sequence_diagram(piece, actors)) for piece in split(items, MOST) or [()])


def _further(facts: SectionFacts, flows: Flows, names: list[str]) -> Iterator[Block]:
    """The few calls of functions that are in no diagram, as a table."""
    rows = []
    for name in names:
        lines = {each.line for each in messages(flows.items(name))}
        for edge in facts.graph.edges_from(facts.path, name):
            if (
                edge.line in lines
                and edge.how in ("exact", "registry", "external")
                and not edge.callee.startswith(BUILT_IN)
            ):
                rows.append((code(name or facts.path), "calls", code(edge.callee), facts.at(edge.line)))
    if rows:
        yield Heading(3, "Further calls")
        yield from table(("From", "Relation", "To", "Where"), rows, "Further calls")

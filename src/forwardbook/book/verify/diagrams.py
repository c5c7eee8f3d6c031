"""A Mermaid block in; its grammar, its faults and each of its messages, members and arrows as claims out."""

from __future__ import annotations

from collections.abc import Iterator

from forwardbook.book.mermaid.grammar import Parsed
from forwardbook.book.mermaid.lint import Fault, lint
from forwardbook.book.mermaid.reading import Diagram, read_diagram
from forwardbook.book.verify.claims import Kind, contradicted, supported, unverified
from forwardbook.book.verify.class_diagram import class_claims
from forwardbook.book.verify.context import Context, Found
from forwardbook.book.verify.flow_diagram import flow_claims
from forwardbook.book.verify.messages import sequence_claims
from forwardbook.book.verify.reading import Fence


def check_diagram(fence: Fence, context: Context, parsed: Parsed | None) -> Iterator[Found]:
    """Every claim of a diagram; `parsed` is the verdict of Mermaid's grammar, None where it was not asked."""
    text = fence.text
    diagram = read_diagram(text)
    yield _grammar(fence, diagram, parsed)
    yield from _lint(fence, text, diagram, context)
    if diagram.family == "sequence":
        yield from sequence_claims(fence, diagram, context)
    elif diagram.family == "class":
        yield from class_claims(fence, diagram, context)
    elif diagram.family == "flowchart":
        yield from flow_claims(fence, diagram, context)


def _grammar(fence: Fence, diagram: Diagram, parsed: Parsed | None) -> Found:
    shown = f"{diagram.family} diagram of {len(fence.lines)} lines"
    if parsed is None or parsed.ok is None:
        why = parsed.message if parsed else "Mermaid's grammar was not asked"
        return Found(fence.line, "grammar", shown, unverified(why))
    if parsed.ok:
        return Found(fence.line, "grammar", shown, supported())
    return Found(fence.line + parsed.line, "grammar", shown, contradicted(parsed.message))


def _lint(fence: Fence, text: str, diagram: Diagram, context: Context) -> Iterator[Found]:
    faults = lint(text, diagram)
    declares = bool(diagram.participants)
    for fault in faults:
        kind: Kind = "participant" if fault.rule == "undeclared" else "lint"
        line = fence.lines[fault.line - 1].strip() if fault.line <= len(fence.lines) else ""
        sure = context.strict or (fault.rule != "size" and (fault.rule != "undeclared" or declares))
        verdict = contradicted(fault.message) if sure else unverified(fault.message)
        yield Found(fence.line + fault.line, kind, line[:100], verdict)
    if diagram.family == "sequence":
        wrong = {_undeclared(fault) for fault in faults if fault.rule == "undeclared"}
        for one in diagram.participants:
            if one.name not in wrong:
                yield Found(fence.line + one.line, "participant", f"participant {one.name}", supported())


def _undeclared(fault: Fault) -> str:
    return fault.message.split()[2]

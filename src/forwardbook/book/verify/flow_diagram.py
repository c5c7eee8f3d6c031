"""A flowchart in; its arrows as claims out."""

from __future__ import annotations

from collections.abc import Iterator

from forwardbook.book.mermaid.reading import Arrow, Diagram, plain_text
from forwardbook.book.verify.claims import Verdict, unverified
from forwardbook.book.verify.context import Context, Found
from forwardbook.book.verify.edges import End
from forwardbook.book.verify.ends import Ends
from forwardbook.book.verify.reading import Fence
from forwardbook.book.verify.relation_check import check_relation

_VERBS = {"": "", "calls": "calls", "may call": "may call", "uses": "uses", "imports": "imports",
          "launches": "launches", "binds": "binds", "inherits": "inherits from",
          "inherits from": "inherits from", "instantiates": "instantiates", "creates": "instantiates",
          }  # fmt: skip


def flow_claims(fence: Fence, diagram: Diagram, context: Context) -> Iterator[Found]:
    """Every arrow."""
    near = context.near(fence.heading)
    ends = Ends(diagram, context, near)
    for arrow in diagram.arrows:
        a, b = ends[arrow.source], ends[arrow.target]
        shown = f"{a.name} {arrow.form} {b.name}" + (f": {arrow.text}" if arrow.text else "")
        verdict = _check_flow(arrow, a, b, context, near)
        yield Found(fence.line + arrow.line, "edge", shown, verdict)


def _check_flow(arrow: Arrow, a: End, b: End, context: Context, near: tuple[str, ...]) -> Verdict:
    verb = _VERBS.get(plain_text(arrow.text).strip().lower())
    if verb is None:
        return unverified("the arrow says nothing that can be checked")
    if verb and {a.name, b.name} <= context.sources.folders:
        return check_relation(verb, a.name, b.name, context, near)
    if not a.targets or not (b.targets or (context.strict and verb)):
        return unverified(f"the sources define no {b.name if a.targets else a.name}")
    if verb:
        return check_relation(verb, a.name, b.name, context, near)
    of_files = a.targets[0].is_file and b.targets[0].is_file
    tried = [check_relation(one, a.name, b.name, context, near)
             for one in (("imports",) if of_files else ("may call", "uses"))]  # fmt: skip
    best = next((one for one in tried if one.state == "supported"), tried[-1])
    if best.state == "contradicted" and not context.strict:
        return unverified(best.truth, best.file)
    return best

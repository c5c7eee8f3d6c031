"""A class diagram in; its classes, members and arrows as claims out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from forwardbook.book.mermaid.reading import Arrow, Diagram, Member, plain_text
from forwardbook.book.verify.called import in_order, split_arguments
from forwardbook.book.verify.claims import Verdict, contradicted, supported, unverified
from forwardbook.book.verify.context import Context, Found
from forwardbook.book.verify.edges import End
from forwardbook.book.verify.ends import Ends
from forwardbook.book.verify.names import Target
from forwardbook.book.verify.reading import Fence
from forwardbook.book.verify.relation_check import check_relation
from forwardbook.book.verify.same import squeezed
from forwardbook.book.verify.symbols import check_member

_MEMBER = re.compile(
    r"^[+\-#~]?\s*(?:(?P<method>[A-Za-z_~][\w~]*)\s*\(|(?P<attribute>[A-Za-z_]\w*)\s*(?::|$))"
)
_TYPED = re.compile(r"^[+\-#~]?\s*\S+\s+(?P<attribute>[A-Za-z_]\w*)\s*[*$]?$")
_INHERITS = {"<|--": "left", "<|..": "left", "--|>": "right", "..|>": "right"}


def class_claims(fence: Fence, diagram: Diagram, context: Context) -> Iterator[Found]:
    """Every class, member and arrow."""
    near = context.near(fence.heading)
    ends = Ends(diagram, context, near)
    for one in diagram.participants:
        end = ends[one.name]
        verdict = supported(end.targets[0].path) if end.targets else _unknown(end, context, near)
        yield Found(fence.line + one.line, "symbol", f"class {end.name}", verdict)
    for member in diagram.members:
        if (verdict_ := _check_class_member(member, ends[member.owner], context)) is not None:
            yield Found(fence.line + member.line, "member", f"{member.owner}: {member.text}", verdict_)
    for arrow in diagram.arrows:
        yield _class_arrow(fence, arrow, ends, context, near)


def _unknown(end: End, context: Context, near: tuple[str, ...]) -> Verdict:
    missing = [part for part in re.findall(r"\w+", end.name) if not context.names.is_word(part, near)]
    if missing and context.strict:
        return contradicted(f"{missing[0]} is nowhere in the sources")
    return (
        supported() if not missing and context.strict else unverified(f"the sources define no {end.name}")
    )


def _check_class_member(member: Member, owner: End, context: Context) -> Verdict | None:
    classes = [one for one in owner.targets if one.is_class]
    found = _MEMBER.match(member.text) or _TYPED.match(member.text)
    if found is None:
        return None
    groups = found.groupdict()
    name = groups.get("method") or groups.get("attribute") or ""
    if not classes:
        return unverified(f"the sources define no class {owner.name}")
    verdict = check_member(classes, name, context)
    if verdict.state == "supported" and groups.get("method"):
        return _check_parameters(member, classes, name, verdict, context)
    return verdict


def _check_parameters(
    member: Member, classes: list[Target], name: str, holds: Verdict, context: Context
) -> Verdict:
    """Whether the parameters of a method in a class diagram stand in the order of the source."""
    inside = member.text.partition("(")[2].rpartition(")")[0]
    shown = [re.split(r"[:=]", one)[0].strip().lstrip("*") for one in split_arguments(plain_text(inside))]
    methods = [one for each in classes for one in context.names.method(each, name)]
    if not shown or not methods:
        return holds
    for method in methods:
        names = [parameter.name.lstrip("*") for parameter in method.definition.parameters]
        if all(squeezed(one).endswith(("…", "...")) or one in names for one in shown) and in_order(
            shown, names
        ):
            return holds
    if not context.strict:
        return unverified(f"its parameters are written otherwise in {methods[0].path}")
    return contradicted(f"it is `{methods[0].definition.signature}`", methods[0].path)


def _class_arrow(fence: Fence, arrow: Arrow, ends: Ends, context: Context, near: tuple[str, ...]) -> Found:
    line, shown = fence.line + arrow.line, f"{arrow.source} {arrow.form} {arrow.target}"
    left, right = ends[arrow.source], ends[arrow.target]
    side = _INHERITS.get(arrow.form)
    if side:
        verb = "directly inherits from" if context.strict else "inherits from"
        child, base = (right, left) if side == "left" else (left, right)
        return Found(
            line,
            "inheritance",
            shown,
            check_relation(verb, child.name, base.name, context, near),
        )
    if arrow.form in ("<--", "<..", "--*", "--o"):
        left, right = right, left
    return Found(line, "edge", shown, _uses_or_unknown(left, right, context, near))


def _uses_or_unknown(a: End, b: End, context: Context, near: tuple[str, ...]) -> Verdict:
    if not a.targets or not (b.targets or context.strict):
        return unverified(f"the sources define no {b.name if a.targets else a.name}")
    verdict = check_relation("uses", a.name, b.name, context, near)
    if (
        verdict.state == "contradicted"
        and check_relation("uses", b.name, a.name, context, near).state == "supported"
    ):
        return supported(verdict.file) if not context.strict else verdict
    return verdict

"""A Mermaid block in; its grammar, its faults and each of its messages, members and arrows as claims out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from forwardbook.analyzers.index.facts import Edge
from forwardbook.book.mermaid.grammar import Parsed
from forwardbook.book.mermaid.lint import Fault, lint
from forwardbook.book.mermaid.reading import Arrow, Diagram, Member, plain_text, read_diagram
from forwardbook.book.verify.claims import Kind, Verdict, contradicted, supported, unverified
from forwardbook.book.verify.context import Context, Found
from forwardbook.book.verify.edges import End, check_relation, edges_of
from forwardbook.book.verify.names import Target, clean
from forwardbook.book.verify.reading import Fence
from forwardbook.book.verify.same import same_text, squeezed
from forwardbook.book.verify.symbols import check_member

_CALLED = re.compile(
    r"^(?:new\s+|await\s+|may call\s+)?([A-Za-z_~][\w.:~]*)\s*(?:\((.*)\))?(?:\s*(?:→|->|:).*)?$", re.DOTALL
)
_MEMBER = re.compile(
    r"^[+\-#~]?\s*(?:(?P<method>[A-Za-z_~][\w~]*)\s*\(|(?P<attribute>[A-Za-z_]\w*)\s*(?::|$))"
)
_TYPED = re.compile(r"^[+\-#~]?\s*\S+\s+(?P<attribute>[A-Za-z_]\w*)\s*[*$]?$")
_INHERITS = {"<|--": "left", "<|..": "left", "--|>": "right", "..|>": "right"}
_VERBS = {"": "", "calls": "calls", "may call": "may call", "uses": "uses", "imports": "imports",
          "launches": "launches", "binds": "binds", "inherits": "inherits from",
          "inherits from": "inherits from", "instantiates": "instantiates", "creates": "instantiates",
          }  # fmt: skip


def check_diagram(fence: Fence, context: Context, parsed: Parsed | None) -> Iterator[Found]:
    """Every claim of a diagram; `parsed` is the verdict of Mermaid's grammar, None where it was not asked."""
    text = fence.text
    diagram = read_diagram(text)
    yield _grammar(fence, diagram, parsed)
    yield from _lint(fence, text, diagram, context)
    if diagram.family == "sequence":
        yield from _messages(fence, diagram, context)
    elif diagram.family == "class":
        yield from _classes(fence, diagram, context)
    elif diagram.family == "flowchart":
        yield from _flow(fence, diagram, context)


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


class _Ends:
    """What the participants of a diagram mean."""

    def __init__(self, diagram: Diagram, context: Context, near: tuple[str, ...]) -> None:
        self.diagram, self.context, self.near = diagram, context, near
        self._found: dict[str, End] = {}
        self.labels = {one.name: one.label for one in reversed(diagram.participants)}

    def __getitem__(self, name: str) -> End:
        if name not in self._found:
            self._found[name] = self._end(name)
        return self._found[name]

    def _end(self, name: str) -> End:
        label = plain_text(self.labels.get(name, name)).strip("\"'")
        lines = [line.strip().strip("`") for line in label.split("\n") if line.strip()]
        names = self.context.names
        files = tuple(
            path for line in lines[1:] for path in names.files_named(line.partition(":")[0].strip("()"))
        )
        for line in [*lines, label.replace("\n", "")]:
            if targets := names.targets(line, tuple(dict.fromkeys([*files, *self.near]))):
                return End(clean(line), targets)
        return End(clean(lines[0]) if lines else name, ())


def _messages(fence: Fence, diagram: Diagram, context: Context) -> Iterator[Found]:
    ends = _Ends(diagram, context, context.near(fence.heading))
    called: set[tuple[str, str]] = set()
    for arrow in diagram.arrows:
        shown = f"{arrow.source}{arrow.form}{arrow.target}: {arrow.text}"
        if arrow.form in ("-->>", "-->", "--x", "--)"):
            answers = (arrow.target, arrow.source) in called
            verdict = supported() if answers else unverified("an answer to no call of this diagram")
        else:
            called.add((arrow.source, arrow.target))
            verdict = _check_message(arrow, ends, context)
        yield Found(fence.line + arrow.line, "message", shown, verdict)


def _check_message(arrow: Arrow, ends: _Ends, context: Context) -> Verdict:
    text = plain_text(arrow.text).replace("\n", " ").strip()
    found = _CALLED.match(text)
    if found is None:
        return unverified("the message names no call")
    name, arguments = clean(found[1]), found[2]
    a, b = ends[arrow.source], ends[arrow.target]
    if arguments is None and not context.names.targets(name, ends.near) and not context.strict:
        return unverified("the message names no call")
    if not a.targets:
        return unverified(f"the sources define no {a.name}")
    edges = [edge for target in a.targets for edge in edges_of(target, context)]
    same = [edge for edge in edges if _is_called(edge, name, b)]
    path = a.targets[0].path
    if not same:
        return _no_such_call(a, b, name, edges, context)
    if arguments is None or not arguments.strip() or _same_arguments(arguments, same, a, name, context):
        return supported(path)
    passed = " or ".join(f"({', '.join(one)})" for one in _passed(same, a, name, context)[:3])
    return contradicted(f"{a.name} calls {name}{passed or ' without arguments'}", path)


def _is_called(edge: Edge, name: str, b: End) -> bool:
    """Whether a call edge is a call of `name` in the receiver."""
    callee = clean(edge.callee)
    last = name.rpartition(".")[2]
    made = clean(edge.constructs)
    if made.rpartition(".")[2] == last and any(one.qualname == made for one in b.targets):
        return True
    if not edge.callee_path:
        if callee.rpartition(".")[2] != last:
            return False
        is_inside = callee == b.name or callee.startswith(b.name + ".")
        return not b.targets or edge.how == "unresolved" or is_inside
    owner, _, called = callee.rpartition(".")
    constructed = called in ("__init__", "__new__", "__call__") and owner.rpartition(".")[2] == last
    if called != last and not constructed:
        return False
    return not b.targets or any(_holds(target, edge) for target in b.targets) or b.last == last


def _holds(target: Target, edge: Edge) -> bool:
    if target.path != edge.callee_path:
        return False
    return target.is_file or edge.callee == target.qualname or edge.callee.startswith(target.qualname + ".")


def _no_such_call(a: End, b: End, name: str, edges: list[Edge], context: Context) -> Verdict:
    path = a.targets[0].path
    last = name.rpartition(".")[2]
    elsewhere = [edge for edge in edges if clean(edge.callee).rpartition(".")[2] == last]
    if elsewhere and not context.strict:
        return unverified(f"{a.name} calls {elsewhere[0].callee}", path)
    if b.targets and any(
        _inherits_call(target, edge, context) for target in b.targets for edge in elsewhere
    ):
        return supported(path)
    if elsewhere:
        where = f" of {elsewhere[0].callee_path}" if elsewhere[0].callee_path else ""
        return contradicted(f"{a.name} calls {elsewhere[0].callee}{where}, not one of {b.name}", path)
    if not context.strict and _defines(b, last, context) is None:
        return unverified(f"{a.name} calls no {last}", path)
    return contradicted(f"{a.name} calls no {last}", path)


def _inherits_call(target: Target, edge: Edge, context: Context) -> bool:
    """Whether the call ends in a base of the receiver."""
    owner = edge.callee.rpartition(".")[0]
    if not target.is_class:
        return False
    return any(
        one.path == edge.callee_path and one.qualname == owner for one in context.names.lineage(target)
    )


def _defines(b: End, last: str, context: Context) -> bool | None:
    classes = [one for one in b.targets if one.is_class]
    if not classes:
        return None
    found = [context.names.members(one) for one in classes]
    if any(last in one.names for one in found):
        return True
    return False if all(one.complete for one in found) else None


def _passed(edges: list[Edge], a: End, name: str, context: Context) -> list[tuple[str, ...]]:
    """The arguments, as written, of the calls that these edges stand for."""
    places = {(edge.path, edge.line) for edge in edges}
    last = name.rpartition(".")[2]
    found = []
    for path in {edge.path for edge in edges}:
        facts = context.sources.files[path]
        calls = [*facts.calls, *(call for one in facts.definitions for call in one.calls)]
        same = [call for call in calls if (path, call.line) in places]
        named = [call for call in same if clean(call.target).rpartition(".")[2] == last]
        found += [call.arguments for call in named or same]
    return list(dict.fromkeys(found))


def _same_arguments(shown: str, edges: list[Edge], a: End, name: str, context: Context) -> bool:
    wanted = split_arguments(shown)
    if any(_in_order(wanted, list(given)) for given in _passed(edges, a, name, context)):
        return True
    for edge in edges:
        for target in context.names.at(edge.callee_path, edge.callee) if edge.callee_path else []:
            for one in (
                (target, *context.names.method(target, "__init__")) if target.is_class else (target,)
            ):
                if _in_order(wanted, [parameter.name for parameter in one.definition.parameters]):
                    return True
    return False


def _in_order(shown: list[str], given: list[str]) -> bool:
    """Whether the shown arguments are among the given ones, in their order."""
    rest = iter(given)
    return all(one in ("...", "…") or any(_is_argument(one, each) for each in rest) for one in shown)


def _is_argument(shown: str, given: str) -> bool:
    if same_text(shown, given):
        return True
    return same_text(shown, given.partition("=")[2]) if re.match(r"\w+\s*=[^=]", given) else False


def split_arguments(text: str) -> list[str]:
    """The arguments between the commas that stand in no bracket and no quotes."""
    found, depth, quote, begin = [], 0, "", 0
    for at, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote and text[at - 1] != "\\" else quote
        elif letter in "\"'":
            quote = letter
        elif letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        elif letter == "," and depth == 0:
            found.append(text[begin:at].strip())
            begin = at + 1
    return [one for one in [*found, text[begin:].strip()] if one]


def _classes(fence: Fence, diagram: Diagram, context: Context) -> Iterator[Found]:
    near = context.near(fence.heading)
    ends = _Ends(diagram, context, near)
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
        if all(squeezed(one).endswith(("…", "...")) or one in names for one in shown) and _in_order(
            shown, names
        ):
            return holds
    if not context.strict:
        return unverified(f"its parameters are written otherwise in {methods[0].path}")
    return contradicted(f"it is `{methods[0].definition.signature}`", methods[0].path)


def _class_arrow(fence: Fence, arrow: Arrow, ends: _Ends, context: Context, near: tuple[str, ...]) -> Found:
    line, shown = fence.line + arrow.line, f"{arrow.source} {arrow.form} {arrow.target}"
    left, right = ends[arrow.source], ends[arrow.target]
    side = _INHERITS.get(arrow.form)
    if side:
        child, base = (right, left) if side == "left" else (left, right)
        return Found(
            line,
            "inheritance",
            shown,
            check_relation("inherits from", child.name, base.name, context, near),
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


def _flow(fence: Fence, diagram: Diagram, context: Context) -> Iterator[Found]:
    near = context.near(fence.heading)
    ends = _Ends(diagram, context, near)
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

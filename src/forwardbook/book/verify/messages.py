"""A sequence diagram in; each of its messages held against the calls of the function that sends it out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from forwardbook.analyzers.index.facts import Edge
from forwardbook.book.mermaid.reading import Arrow, Diagram, Life, plain_text
from forwardbook.book.verify.called import functions_of, is_called, passed_arguments, same_arguments
from forwardbook.book.verify.claims import Verdict, contradicted, supported, unverified
from forwardbook.book.verify.context import Context, Found
from forwardbook.book.verify.edges import End, edges_of
from forwardbook.book.verify.ends import Ends
from forwardbook.book.verify.inline import read_inline
from forwardbook.book.verify.names import Target, clean
from forwardbook.book.verify.reading import Fence

_CALLED = re.compile(
    r"^(?:new\s+|await\s+|may call\s+)?([A-Za-z_~][\w.:~]*)\s*(?:\((.*)\))?(?:\s*(?:→|->|:).*)?$", re.DOTALL
)
_ANSWERS = ("-->>", "-->", "--x", "--)")


@dataclass
class _Stack:
    """Which functions are active: `running` is known where a message called it, or the caption names it."""

    running: list[tuple[Target, ...]]
    called: tuple[str, tuple[Target, ...]] = ("", ())
    asked: set[tuple[str, str]] = field(default_factory=set)

    def turn(self, life: Life) -> None:
        """Follow an `activate` or `deactivate`."""
        if life.begins:
            receiver, functions = self.called
            self.running.append(functions if receiver == life.name else ())
        elif len(self.running) > 1:
            self.running.pop()
        self.called = ("", ())


def sequence_claims(fence: Fence, diagram: Diagram, context: Context) -> Iterator[Found]:
    """Every message."""
    near = context.near(fence.heading)
    ends, stack = Ends(diagram, context, near), _Stack([_captioned(fence, context, near)])
    events: list[Arrow | Life] = [*diagram.arrows, *diagram.lives]
    for event in sorted(events, key=lambda one: one.line):
        if isinstance(event, Life):
            stack.turn(event)
            continue
        shown = f"{event.source}{event.form}{event.target}: {event.text}"
        yield Found(fence.line + event.line, "message", shown, _check(event, ends, stack, context))


def _captioned(fence: Fence, context: Context, near: tuple[str, ...]) -> tuple[Target, ...]:
    """The function that a caption like "Flow of `f`" names."""
    caption = fence.caption or (fence.heading.text if fence.heading else "")
    spans = read_inline(caption).spans if caption.startswith("Flow of") else ()
    found = context.names.targets(spans[0].text, near) if spans else ()
    return tuple(one for one in found if not one.is_file)


def _check(arrow: Arrow, ends: Ends, stack: _Stack, context: Context) -> Verdict:
    if arrow.form in _ANSWERS:
        answers = (arrow.target, arrow.source) in stack.asked
        return supported() if answers else unverified("an answer to no call of this diagram")
    stack.asked.add((arrow.source, arrow.target))
    stack.called = ("", ())
    found = _CALLED.match(plain_text(arrow.text).replace("\n", " ").strip())
    if found is None:
        return unverified("the message names no call")
    name, arguments = clean(found[1]), found[2]
    a, b = ends[arrow.source], ends[arrow.target]
    if arguments is None and not context.names.targets(name, ends.near) and not context.strict:
        return unverified("the message names no call")
    if not a.targets:
        return unverified(f"the sources define no {a.name}")
    a = _sender(a, stack)
    edges = [edge for target in a.targets for edge in edges_of(target, context)]
    same = [edge for edge in edges if is_called(edge, name, b, context.strict)]
    if not same:
        return _no_such_call(a, b, name, edges, context)
    stack.called = (arrow.target, functions_of(same, context))
    if arguments is None or not arguments.strip() or same_arguments(arguments, same, name, context):
        return supported(a.targets[0].path)
    passed = " or ".join(f"({', '.join(one)})" for one in passed_arguments(same, name, context)[:3])
    return contradicted(f"{a.name} calls {name}{passed or ' without arguments'}", a.targets[0].path)


def _sender(a: End, stack: _Stack) -> End:
    """The active function where it is one of the sender's, else all that the sender has."""
    running = stack.running[-1]
    if running and all(any(_is_inside(one, target) for target in a.targets) for one in running):
        return End(running[0].qualname, running)
    return a


def _is_inside(one: Target, target: Target) -> bool:
    if one.path != target.path:
        return False
    return target.is_file or one.qualname == target.qualname or one.qualname.startswith(target.qualname + ".")


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

"""A user-facing function in; the calls down to the lowest level reached, and why they stop there, out."""

from __future__ import annotations

import builtins
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from forwardbook.analyzers.index.facts import Edge
from forwardbook.book.blocks import Block, Bullets, Heading, Paragraph, Table
from forwardbook.book.inline import cite, code, plain, where
from forwardbook.book.repository.sentences import CLASSES
from forwardbook.book.repository.survey import Place, Survey, is_below

HEAD: Final = ("From", "Relation", "To", "Where", "Found")
MOST_ROWS: Final = 80
MOST_ENDS: Final = 8
DEPTH: Final = 12
_TRIVIAL: Final = frozenset(dir(builtins))


@dataclass(frozen=True, slots=True)
class Chain:
    """Edges one below the other, from a start to where it stops."""

    start: Place
    edges: tuple[Edge, ...]

    @property
    def why(self) -> str:
        """Why nothing is known below the last edge."""
        if not self.edges:
            return "it calls nothing of this repository"
        last = self.edges[-1]
        if last.form == "launch":
            return "the kernel runs on the device"
        if last.how == "external":
            return "what lies below is outside of this repository"
        if last.how == "unresolved":
            return last.reason or "the call is decided when it runs"
        return "it calls nothing further of this repository"


class Tracer:
    """Finds the longest chain of calls below each definition, each definition looked at once."""

    def __init__(self, survey: Survey) -> None:
        self._survey = survey
        self._below: dict[tuple[str, str], tuple[Edge, ...]] = {}

    def edges(self, path: str, qualname: str) -> tuple[Edge, ...]:
        """The calls that lead on: to the repository, or out of it to something that is no builtin."""
        seen: set[tuple[str, str]] = set()
        found = []
        for each in self._survey.graph.edges_from(path, qualname):
            key = (each.callee_path, each.callee)
            if key in seen or (each.how == "external" and _is_trivial(each.callee)):
                continue
            seen.add(key)
            found.append(each)
        return tuple(found)

    def chain(self, start: Place) -> Chain:
        """The longest chain of calls from a definition down."""
        return Chain(start, self._longest(*_entry(self._survey, start), ()))

    def _longest(self, path: str, qualname: str, above: tuple[tuple[str, str], ...]) -> tuple[Edge, ...]:
        key = (path, qualname)
        if key in self._below:
            return self._below[key]
        if key in above or len(above) >= DEPTH:
            return ()
        best: tuple[Edge, ...] = ()
        for each in self.edges(path, qualname):
            below = self._longest(*_target(self._survey, each), (*above, key)) if each.callee_path else ()
            if each.how != "unresolved" and _rank((each, *below)) > _rank(best):
                best = (each, *below)
        self._below[key] = best
        return best

    def tree(self, start: Place) -> tuple[Edge, ...]:
        """Every call below a definition, depth first, each definition opened once."""
        opened: set[tuple[str, str]] = set()
        found: list[Edge] = []

        def walk(path: str, qualname: str, depth: int) -> None:
            if (path, qualname) in opened or depth > DEPTH or len(found) > 4 * MOST_ROWS:
                return
            opened.add((path, qualname))
            for each in self.edges(path, qualname):
                found.append(each)
                if each.callee_path:
                    walk(*_target(self._survey, each), depth + 1)

        walk(*_entry(self._survey, start), 0)
        return tuple(found)

    def launches(self, start: Place) -> tuple[Chain, ...]:
        """The shortest chain to each kernel that is launched below a definition."""
        entry = _entry(self._survey, start)
        reached: dict[tuple[str, str], tuple[Edge, ...]] = {entry: ()}
        found: dict[tuple[str, str], Chain] = {}
        waiting = deque([entry])
        while waiting:
            here = waiting.popleft()
            for each in self.edges(*here):
                chain = (*reached[here], each)
                below = (each.callee_path, each.callee)
                if each.form == "launch":
                    found.setdefault(below, Chain(start, chain))
                elif each.callee_path and below not in reached and len(chain) < DEPTH:
                    reached[below] = chain
                    waiting.append(below)
        return tuple(found[kernel] for kernel in sorted(found))

    def ends(self, start: Place) -> tuple[Chain, ...]:
        """The shortest chain to each place where calls leave the repository, the nearest in name first."""
        entry = _entry(self._survey, start)
        reached: dict[tuple[str, str], tuple[Edge, ...]] = {entry: ()}
        found: dict[str, tuple[Edge, ...]] = {}
        waiting = deque([entry])
        while waiting:
            here = waiting.popleft()
            for each in self.edges(*here):
                chain = (*reached[here], each)
                if each.how == "external":
                    found.setdefault(each.callee, chain)
                elif each.callee_path and len(chain) < DEPTH:
                    below = _target(self._survey, each)
                    if below not in reached:
                        reached[below] = chain
                        waiting.append(below)
        words = _words(start.definition.name)

        def rank(edges: tuple[Edge, ...]) -> tuple[int, int, str]:
            return -len(words & _words(edges[-1].callee)), -len(edges), edges[-1].callee

        return tuple(Chain(start, edges) for edges in sorted(found.values(), key=rank))


def traces(survey: Survey) -> Iterator[Block]:
    """The trees of the focus, then one line per user-facing API of the rest."""
    tracer = Tracer(survey)
    for place in survey.main_api:
        if survey.focus and is_below(place.path, survey.focus):
            yield from _trace(survey, tracer, place)
    others = [place for place in survey.user_api if not (survey.focus and is_below(place.path, survey.focus))]
    lines = (chain_line(survey, tracer.chain(start)) for place in others for start in _starts(survey, place))
    if others:
        yield Heading(
            3, f"Every {'other ' if survey.focus else ''}user-facing API, down its longest chain of calls"
        )
        yield Bullets(tuple(lines))


def _starts(survey: Survey, place: Place) -> tuple[Place, ...]:
    """A function; of a class its constructor and what a call of an instance runs."""
    one = place.definition
    if one.kind not in CLASSES:
        return (place,)
    called = (survey.place(place.path, f"{one.qualname}.{name}") for name in ("forward", "__call__"))
    return (place, *(each for each in called if each is not None))


def _trace(survey: Survey, tracer: Tracer, place: Place) -> Iterator[Block]:
    yield Heading(3, f"From {code(place.definition.qualname)}")
    ends = tracer.ends(place)[:MOST_ENDS]
    yield Paragraph(chain_line(survey, ends[0] if ends else tracer.chain(place)))
    if len(ends) > 1:
        names = ", ".join(code(each.edges[-1].callee) for each in ends[1:])
        yield Paragraph(f"On other ways it leaves the repository to {names}.")
    edges = tracer.tree(place)
    if edges:
        yield Table(HEAD, tuple(row(survey, each) for each in edges[:MOST_ROWS]))
    if len(edges) > MOST_ROWS:
        yield Paragraph(f"The first {MOST_ROWS} calls are shown; further ones are left out.")


def chain_line(survey: Survey, chain: Chain) -> str:
    """A chain as one line: each definition and call with its lines, and why it stops."""
    start = cite(chain.start.definition.qualname, chain.start.path, chain.start.definition.span)
    steps: list[str] = []
    for each in chain.edges:
        place = survey.place(each.callee_path, each.callee) if each.callee_path else None
        name = cite(each.callee, place.path, place.definition.span) if place else code(each.callee)
        caller = code(each.caller) if steps or each.caller != chain.start.definition.qualname else start
        prefix = f"{start}: " if not steps and caller != start else ""
        steps.append(f"{prefix}{caller} {_verb(each)} {name} at {where(each.path, each.line)}")
    return f"{'; '.join(steps) or start}. Stops: {plain(chain.why)}."


def row(survey: Survey, edge: Edge) -> tuple[str, ...]:
    """One call as a row of a table of relations."""
    caller = edge.caller or edge.path
    to = plain(edge.callee) if edge.how == "unresolved" else code(edge.callee)
    found = f"{edge.how}: {edge.reason}" if edge.reason else edge.how
    return code(caller), _verb(edge), to, where(edge.path, edge.line), plain(found)


def _verb(edge: Edge) -> str:
    if edge.form == "launch":
        return "launches"
    return "may call" if edge.how in ("possible", "registry") else "calls"


def _words(name: str) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z]+|[A-Z][a-z]*", name.rpartition(".")[2].replace("_", " ")))


def _entry(survey: Survey, place: Place) -> tuple[str, str]:
    """Where a trace begins: of a class, at its constructor."""
    if place.definition.kind in CLASSES:
        constructor = survey.place(place.path, f"{place.definition.qualname}.__init__")
        if constructor is not None:
            return constructor.path, constructor.definition.qualname
    return place.path, place.definition.qualname


def _target(survey: Survey, edge: Edge) -> tuple[str, str]:
    place = survey.place(edge.callee_path, edge.callee)
    return _entry(survey, place) if place is not None else (edge.callee_path, edge.callee)


def _rank(edges: tuple[Edge, ...]) -> tuple[int, bool]:
    return len(edges), bool(edges) and edges[-1].how == "external"


def _is_trivial(name: str) -> bool:
    return name.partition(".")[0] in _TRIVIAL or name.startswith("builtins.")

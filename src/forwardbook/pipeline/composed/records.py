"""A breakdown in; the record of a regime, in formulas that a person reads, out."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from forwardbook.analyzers.derive.breakdown import Breakdown, CallGroup
from forwardbook.analyzers.derive.layout import TensorLayout
from forwardbook.analyzers.derive.local import Local
from forwardbook.analyzers.derive.own import OwnLine
from forwardbook.analyzers.derive.solve import printed
from forwardbook.analyzers.symbolic.run import SYMBOLIC_WIDTHS
from forwardbook.analyzers.symbolic.trace import general
from forwardbook.entries.record import Argument, Call, Line, Name, Own, Proof, Regime
from forwardbook.formula import Condition, Expr
from forwardbook.pipeline.composed.facts import path_of_caller
from forwardbook.pipeline.composed.glossary import Glossary

FULL = "float32"
"""What is said of a region whose numbers are of 4 bytes, among the names of which each is 1 there."""
SIGNATURE = "default"
UNPROVED = Proof(verdict="unproved")


Text = Callable[[Expr], str]
"""A formula as it is stored, in the names that a person uses."""


@dataclass(frozen=True)
class Draft:
    """A regime in the making: its breakdown, what is pinned in it, and its conditions."""

    breakdown: Breakdown
    region: frozenset[str] = frozenset()
    """The names that are 1 here; FULL where widths are those of float32."""
    conditions: tuple[Condition, ...] = ()
    assumptions: tuple[str, ...] = ()
    beside: frozenset[str] = frozenset()
    """What is 1 in other regimes and not here."""
    mark: int = 0
    """What tells it from others of its class."""
    at: Mapping[str, int] = field(default_factory=dict, compare=False)
    """The sizes of its run that are not the usual ones."""

    def all_conditions(self) -> list[Condition]:
        """Those of the region and the others."""
        here = [_width("==") if name == FULL else Condition.that_is(name, 1) for name in sorted(self.region)]
        others = [
            _width("<") if name == FULL else Condition.at_least(name, 2) for name in sorted(self.beside)
        ]
        return [*here, *others, *self.conditions]

    def next_to(self, region: frozenset[str]) -> Draft:
        """The draft where there is another in a region: it knows of that if it has one name more at 1."""
        more = region - self.region
        if self.region <= region and len(more) == 1:
            return replace(self, beside=self.beside | more)
        return self

    def without(self, condition: Condition) -> Draft:
        """The draft with one condition fewer."""
        left = tuple(one for one in self.conditions if one != condition)
        return replace(self, conditions=left)


def _width(op: str) -> Condition:
    return Condition.parse(f"{{a_dtype_bytes}} {op} 4")


def record(
    local: Local,
    draft: Draft,
    name: str = SIGNATURE,
    proof: Proof = UNPROVED,
    texts: dict[Expr, str] | None = None,
) -> Regime:
    """The record of a regime; `texts` are those of formulas that are known, to which new ones are added."""
    known = {} if texts is None else texts

    def text(value: Expr) -> str:
        if value not in known:
            known[value] = printed(value, local.definitions).text()
        return known[value]

    own = draft.breakdown.own
    amounts = {quantity: text(value) for quantity, value in own.amounts.items()}
    states = tuple(dict.fromkeys(text(one) for one in own.states if one))
    conditions = (f"{text(one.left)} {one.op} {text(one.right)}" for one in draft.all_conditions())
    used = _used(local, draft)
    return Regime(
        name=name,
        signature=SIGNATURE,
        arguments=tuple(_arguments(local, symbols_of(draft))),
        definitions={name: value.text() for name, value in local.definitions.items() if name in used},
        conditions=tuple(dict.fromkeys(conditions)),
        assumptions=draft.assumptions,
        own=Own(**amounts, states=states),
        lines=tuple(_lines(draft.breakdown, text)),
        calls=tuple(_call(one, text) for one in draft.breakdown.calls),
        proof=proof,
    )


def printed_condition(condition: Condition, local: Local) -> Condition:
    """A condition in the names that a person uses."""
    left, right = (printed(side, local.definitions) for side in (condition.left, condition.right))
    return Condition(left, condition.op, right)


def _used(local: Local, draft: Draft) -> set[str]:
    """The definitions that the formulas of a draft need, or that a person gives instead."""
    needed = set(symbols_of(draft))
    return {name for name, value in local.definitions.items() if value.symbols() & needed}


def symbols_of(draft: Draft) -> frozenset[str]:
    """The free names in formulas and conditions of a draft, widths apart."""
    return all_symbols_of(draft) - set(SYMBOLIC_WIDTHS)


def all_symbols_of(draft: Draft) -> frozenset[str]:
    """The free names in formulas and conditions of a draft."""
    own = draft.breakdown.own
    values = [*own.amounts.values(), *own.states]
    for call in draft.breakdown.calls:
        values += [call.times, call.live, *call.callee.bindings.values()]
    found = frozenset[str]().union(*(one.symbols() for one in values))
    return found.union(*(one.symbols() for one in draft.all_conditions()))


def _call(group: CallGroup, text: Text) -> Call:
    return Call(
        line=group.line,
        attribute=group.attribute,
        entry=group.callee.key,
        signature=SIGNATURE,
        times=text(group.times),
        bindings={name: text(value) for name, value in sorted(group.callee.bindings.items())},
        live=text(group.live),
    )


def _lines(found: Breakdown, text: Text) -> Iterable[Line]:
    """The lines with a cost of their own, and those from which no more than calls are made."""
    lines = list(found.own.lines)
    called = {one.key for one in found.calls if one.key is not None}
    for key in sorted(
        called, key=lambda one: (one[1] - one[2], one)
    ):  # a call within another is on its lines
        if not any(first <= key[1] <= last for _, first, last in (one.key for one in lines)):
            lines.append(OwnLine(key, {}, ()))
    return [_line(one, text) for one in sorted(lines, key=lambda one: one.key)]


def _line(one: OwnLine, text: Text) -> Line:
    file, first, last = one.key
    return Line(
        line=first,
        end_line=last,
        code=on_one_line(linecache.getline(file, number) for number in range(first, last + 1)),
        **{quantity: text(value) for quantity, value in one.amounts.items()},
        operations=tuple(name for name, _ in one.operations),
    )


def on_one_line(lines: Iterable[str]) -> str:
    """Source lines as one, without spaces within brackets."""
    code = ""
    for line in map(str.strip, lines):
        close = not code or code[-1] in "([{" or line[:1] in (")", "]", "}", "")
        code += line if close else f" {line}"
    return code


def _arguments(local: Local, used: Collection[str]) -> Iterable[Argument]:
    """The tensors that are handed over; of those deep within, such as of a cache, the ones that cost."""
    seen: set[str] = set()
    for path, leaf in local.boundary.forward.leaves:
        place = general(path)
        if not isinstance(leaf, TensorLayout) or place in seen:
            continue
        shape = [local.sizes[f"called.{path}.{place}"] for place in range(leaf.rank)]
        told = frozenset[str]().union(*(one.symbols() for one in shape))
        if path.count(".") > 1 and not told <= {*used, *local.definitions}:
            continue
        seen.add(place)
        yield Argument(
            path=path_of_caller(local.boundary, place),
            dtype="a" if leaf.dtype == local.boundary.dtype else str(leaf.dtype).removeprefix("torch."),
            shape=tuple(printed(one, local.definitions).text() for one in shape),
            order=() if leaf.order == tuple(range(leaf.rank)) else leaf.order,
            expanded=leaf.expanded,
        )


def names_of_record(local: Local, used: Iterable[str], counts: Collection[str]) -> tuple[Name, ...]:
    """The names of formulas, and where each comes from."""
    wanted = set(used) - set(SYMBOLIC_WIDTHS)
    for name, value in local.definitions.items():
        if value.symbols() & wanted:
            wanted |= {name, *value.symbols()}
    glossary = Glossary(local)
    return tuple(
        Name.model_validate(
            {
                "name": name,
                "source": _source(local, name, counts),
                "meaning": glossary.meaning(name),
                "default": glossary.default(name),
            }
        )
        for name in sorted(wanted)
    )


def _source(local: Local, name: str, counts: Collection[str]) -> str:
    if name in counts:
        return "count"
    if name in local.quotients:
        return "attribute"
    return local.names.sources.get(name, "data")

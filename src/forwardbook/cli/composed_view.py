"""An entry of own costs and calls for people: formulas, calls, closed forms, lines and proof."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from forwardbook.cli.proof_view import points_and_judges
from forwardbook.cli.terminal import code_text, formula_text, verdict_text
from forwardbook.schema import ProofPoint

if TYPE_CHECKING:
    from forwardbook.entries.closed import Closed
    from forwardbook.entries.cost_model import CostModel
    from forwardbook.entries.record import Call, Entry, Line, Proof, Regime

_SHORT: Final = 160  # characters of a formula in a cell
_PER_LINE: Final = {"flops": "flops", "pointwise_ops": "pointwise", "reads": "reads", "writes": "writes"}
_LABEL: Final = 12  # columns


def composed_view(model: CostModel, key: str, brief: bool = False) -> RenderableType:
    """The whole of an entry, if brief only its first regime."""
    return Group(*_parts(model, key, brief))


def _parts(model: CostModel, key: str, brief: bool) -> Iterator[RenderableType]:
    entry, holder = model.get(key), model.regimes.entry(model.regimes.holder(key))
    yield _heading(key, entry)
    if not holder.regimes:
        yield Text("no formulas are stored", style="yellow")
    shown = holder.regimes[: 1 if brief else None]
    for regime in shown:
        yield ""
        yield Rule(Text(f"regime {regime.name}", style="bold"), align="left", style="dim")
        yield from _regime_parts(model, regime, model.closed(key, regime.signature, regime.name))
    if len(shown) < len(holder.regimes):
        others = ", ".join(one.name for one in holder.regimes[len(shown) :])
        yield Text(f"further regimes: {others}; in full: forwardbook show {key}", style="dim")
    if holder.names:
        yield Padding(_name_table(holder), (1, 0, 0, 0))
    for hole in entry.unresolved:
        place = f"{hole.file}:{hole.line} {hole.operation}: {hole.reason}"
        yield Text(f"unresolved, not counted: {place}", style="yellow")


def _heading(key: str, entry: Entry) -> Panel:
    text = Text.assemble(("verdict ", "dim"), verdict_text(entry.verdict))
    text.append(f": {entry.reason}" if entry.reason else "")
    versions = "".join(f", {name} {version}" for name, version in sorted(entry.versions.items()))
    text.append(f"\n{entry.file}:{entry.line_start}-{entry.line_end}{versions}", style="dim")
    text.append(f"\nforward() is the same as that of {entry.same_as}" if entry.same_as else "")
    title = Text(entry.full_class_name, style="bold")
    return Panel(text, title=title, title_align="left", subtitle=Text(key, "dim"))


def _regime_parts(model: CostModel, regime: Regime, closed: Closed) -> Iterator[RenderableType]:
    inputs = [f"{one.path}: {' x '.join(map(_spaced, one.shape)) or 'a scalar'}" for one in regime.arguments]
    yield from _labelled("input", inputs)
    yield from _labelled("with", [f"{name}={value}" for name, value in sorted(regime.choices.items())])
    yield from _labelled("where", [f"{{{name}}} = {value}" for name, value in regime.definitions.items()])
    yield from _labelled("holds when", regime.conditions)
    yield from _labelled("assumes", regime.assumptions)
    states = [f"max({', '.join(regime.own.states)})"] if len(regime.own.states) > 1 else regime.own.states
    own = {name: str(value) for name, value in regime.own if name != "states" and value != "0"}
    own |= {"peak": states[0]} if states else {}
    yield Padding(_formula_table("its own lines" if regime.calls else "", own), (1, 0, 0, 0))
    if regime.calls:
        yield Padding(_call_table(model, regime.calls, closed), (1, 0, 0, 0))
        yield Padding(Group(*_in_all(regime, closed)), (1, 0, 0, 0))
    if regime.lines:
        yield Padding(_line_table(model, regime, closed), (1, 0, 0, 0))
    yield Padding(_proof(regime.proof), (1, 0, 0, 0))


def _labelled(label: str, texts: Iterable[str]) -> Iterator[Text]:
    for number, text in enumerate(texts):
        yield Text.assemble(Text(f"{'' if number else label:<{_LABEL}}", style="dim"), formula_text(text))


def _formula_table(title: str, formulas: Mapping[str, str]) -> Table:
    table = Table(
        box=None, show_header=False, padding=(0, 2, 0, 0), title=title or None, title_justify="left"
    )
    table.title_style = "bold"
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for quantity, formula in formulas.items():
        table.add_row(quantity, formula_text(formula))
    return table


def _call_table(model: CostModel, calls: Iterable[Call], closed: Closed) -> Table:
    table = Table(
        box=None,
        header_style="bold",
        padding=(0, 2, 0, 0),
        title="calls",
        title_justify="left",
        title_style="bold",
    )
    table.add_column("line", justify="right", style="dim", no_wrap=True)
    table.add_column("calls", overflow="fold", ratio=3)
    table.add_column("class", overflow="fold", ratio=3)
    table.add_column("times", overflow="fold", ratio=2)
    table.add_column("costs in all", overflow="fold", ratio=6)
    for place, call in enumerate(calls):
        times = formula_text(call.times) if call.times != "1" else Text("")
        cost = _cost(closed, place)
        table.add_row(str(call.line), Text(call.attribute), Text(_class(model, call)), times, cost)
    return table


def _in_all(regime: Regime, closed: Closed) -> Iterator[RenderableType]:
    """The closed forms that are short, where they hold, and which there are not."""
    from forwardbook.entries.closed import short
    from forwardbook.schema import QUANTITIES

    texts = {name: short(value, closed.regime.definitions) for name, value in closed.formulas.items()}
    told = {name: text for name, text in texts.items() if text is not None and text != "0"}
    yield _formula_table("in all, calls included", told)
    yield from _labelled("holds where", [one.text() for one in closed.conditions] if told else [])
    if long := [name for name in QUANTITIES if texts.get(name) is None]:
        yield Text(f"long, but evaluated like the others: {', '.join(long)}", style="dim")
    if closed.trouble:
        yield Text(closed.trouble, style="yellow")


def _line_table(model: CostModel, regime: Regime, closed: Closed) -> Table:
    """The source, and beside each line what it costs itself and which classes it calls."""
    table = Table(box=None, header_style="bold", padding=(0, 1, 0, 0))
    table.add_column("line", justify="right", style="dim", no_wrap=True)
    table.add_column("source", overflow="fold", ratio=5)
    table.add_column("cost", overflow="fold", ratio=6)
    for line in regime.lines:
        table.add_row(str(line.line), code_text(line.code), _amounts(model, regime, line, closed))
    return table


def _amounts(model: CostModel, regime: Regime, line: Line, closed: Closed) -> Table:
    """What is not zero of a line: a name and a formula in each row, then the classes that it calls."""
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for quantity, label in _PER_LINE.items():
        if (amount := str(getattr(line, quantity))) != "0":
            grid.add_row(label, formula_text(amount))
    for place, call in enumerate(regime.calls):
        if line.line <= call.line <= line.end_line:
            grid.add_row("calls", Text.assemble(_class(model, call), (": ", "dim"), _cost(closed, place)))
    return grid


def _cost(closed: Closed, place: int) -> Text:
    """What all such calls cost: flops, or else pointwise operations; dots where that is long."""
    from forwardbook.entries.closed import short

    for quantity, unit in (("flops", ""), ("pointwise_ops", " pointwise")):
        value = closed.calls[place].get(quantity)
        text = None if value is None else short(value, closed.regime.definitions, _SHORT)
        if text is None:
            return Text("...", "dim")
        if text != "0":
            return Text.assemble(formula_text(text), (unit, "dim"))
    return Text("nothing", "dim")


def _class(model: CostModel, call: Call) -> str:
    """The class that a call is of: its name where the store has it, else its key."""
    return model.names.get(call.entry, call.entry).rpartition(".")[2]


def _name_table(entry: Entry) -> Table:
    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    for column in ("name", "from", "default", "meaning"):
        table.add_column(column, overflow="fold")
    for name in entry.names:
        default = "" if name.default is None else f"{name.default:,}"
        table.add_row(Text(name.name, "cyan"), Text(name.source, "dim"), default, Text(name.meaning))
    return table


def _proof(proof: Proof) -> RenderableType:
    count = len(proof.points)
    text = Text.assemble(("proof ", "bold"), verdict_text(proof.verdict))
    text.append(f": {count} random point{'' if count == 1 else 's'}")
    text.append(f"; because {proof.reason}" if proof.reason else "")
    if proof.static_agrees is not None:
        text.append(f"; the static derivation {'agrees' if proof.static_agrees else 'differs'}")
    points = tuple(
        ProofPoint(sizes=one.sizes, predicted=one.measured, measured=one.measured) for one in proof.points
    )
    return Group(text, *points_and_judges(points, proof.judges))


def _spaced(formula: str) -> str:
    return f"({formula})" if " " in formula else formula

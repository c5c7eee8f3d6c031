"""An entry of own costs and calls for people: formulas, calls, closed forms, lines and proof.

What a call costs stands in the table of calls alone; a line of the source names the classes that it calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from forwardbook.cli.proof_view import points_and_judges
from forwardbook.cli.terminal import code_text, formula_text, verdict_text
from forwardbook.schema import QUANTITIES, WIDTH_MEANINGS, ProofPoint

if TYPE_CHECKING:
    from forwardbook.entries.closed import Closed
    from forwardbook.entries.cost_model import CostModel
    from forwardbook.entries.record import Call, Entry, Line, Own, Proof, Regime

_PER_LINE: Final = {"flops": "flops", "pointwise_ops": "pointwise", "reads": "reads", "writes": "writes"}
_LABEL: Final = 12  # columns


def composed_view(
    model: CostModel, key: str, brief: bool = False, regime: str | None = None
) -> RenderableType:
    """The whole of an entry; if brief its main regime in full and a line of each other one.

    Of a named regime, or of a signature, that alone.

    Raises:
        EntryError: there is no such regime.
    """
    return Group(*_parts(model, key, brief, regime))


def main_regime(regimes: Sequence[Regime]) -> Regime:
    """The one that says most of the class: of the first signature the one that fixes the fewest sizes."""
    of_first = [one for one in regimes if one.signature == regimes[0].signature]
    return min(reversed(of_first), key=lambda one: sum(" == " in text for text in one.conditions))


def _parts(model: CostModel, key: str, brief: bool, regime: str | None) -> Iterator[RenderableType]:
    entry, holder = model.get(key), model.regimes.entry(model.regimes.holder(key))
    yield _heading(key, entry)
    if not holder.regimes:
        yield Text("no formulas are stored", style="yellow")
    shown, others = _chosen(model, key, holder, brief, regime)
    for one in shown:
        yield ""
        yield Rule(Text(f"regime {one.name}", style="bold"), align="left", style="dim")
        yield from _regime_parts(model, one, model.closed(key, one.signature, one.name))
    if others:
        yield ""
        yield Rule(Text("further regimes", style="bold"), align="left", style="dim")
        yield _regime_table(others)
        yield Text(f"in full: forwardbook show {key} --all, or --regime with a name of these", style="dim")
    if names := _names(model, key, holder):
        yield Padding(_name_table(names), (1, 0, 0, 0))
    for hole in entry.unresolved:
        place = f"{hole.file}:{hole.line} {hole.operation}: {hole.reason}"
        yield Text(f"unresolved, not counted: {place}", style="yellow")


def _chosen(
    model: CostModel, key: str, holder: Entry, brief: bool, regime: str | None
) -> tuple[list[Regime], list[Regime]]:
    """The regimes that are shown in full, and those of which a line is."""
    if regime is not None:
        signature, _ = model.way(key, regime)
        named = [one for one in holder.regimes if regime == one.name]
        return named or [one for one in holder.regimes if one.signature == signature], []
    if not brief or not holder.regimes:
        return [*holder.regimes], []
    main = main_regime(holder.regimes)
    return [main], [one for one in holder.regimes if one is not main]


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
    if regime.calls:
        yield Padding(_own_parts(regime.own), (1, 0, 0, 0))
        yield Padding(_call_table(model, regime.calls, closed), (1, 0, 0, 0))
        yield Padding(Group(*_in_all(closed)), (1, 0, 0, 0))
    else:
        yield Padding(_formula_table("", {name: _text(closed, name) for name in QUANTITIES}), (1, 0, 0, 0))
    if regime.lines:
        yield Padding(_line_table(model, regime), (1, 0, 0, 0))
    yield Padding(_proof(regime.proof), (1, 0, 0, 0))


def _own_parts(own: Own) -> RenderableType:
    """What the lines cost without the calls; its boundary is not of them but of the whole call."""
    from forwardbook.entries.figures import peak_text

    told = {name: getattr(own, name) for name in QUANTITIES if name not in ("boundary", "peak")}
    told = {name: text for name, text in told.items() if text != "0"}
    told |= {"peak": peak_text(own)} if own.states else {}
    return _formula_table("its own lines", told) if told else Text("its own lines cost nothing", "bold")


def _text(closed: Closed, quantity: str) -> str:
    """A quantity in the names of the class, however long."""
    from forwardbook.entries.closed import short

    value = closed.formulas.get(quantity)
    if value is None:
        return "too long to be written out"
    return short(value, closed.regime.definitions) or value.text()


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
    table.add_column("flops in all", overflow="fold", ratio=6)
    for place, call in enumerate(calls):
        times = formula_text(call.times) if call.times != "1" else Text("")
        cost = _cost(closed, place)
        table.add_row(str(call.line), Text(call.attribute), Text(_class(model, call)), times, cost)
    return table


def _in_all(closed: Closed) -> Iterator[RenderableType]:
    """The closed forms that are short, where they hold, and which there are not."""
    from forwardbook.entries.closed import short

    formulas = closed.formulas.items()
    texts = dict.fromkeys(QUANTITIES) | {
        name: short(value, closed.regime.definitions) for name, value in formulas
    }
    if texts["boundary"] is None:
        texts["boundary"] = f"{closed.regime.boundary.text()} + the weights that are read"
    told = {name: text for name, text in texts.items() if text is not None and text != "0"}
    yield _formula_table("in all, calls included", told)
    yield from _labelled("holds where", [one.text() for one in closed.conditions] if told else [])
    if long := [name for name in QUANTITIES if texts[name] is None]:
        yield Text(f"long, but evaluated like the others: {', '.join(long)}", style="dim")
    if closed.trouble:
        yield Text(closed.trouble, style="yellow")


def _line_table(model: CostModel, regime: Regime) -> Table:
    """The source, and beside each line what it costs itself and which classes it calls."""
    from forwardbook.entries.lines import lines_of

    table = Table(box=None, header_style="bold", padding=(0, 1, 0, 0))
    table.add_column("line", justify="right", style="dim", no_wrap=True)
    table.add_column("source", overflow="fold", ratio=5)
    table.add_column("cost", overflow="fold", ratio=6)
    for line in lines_of(regime):
        table.add_row(str(line.line), code_text(line.code), _amounts(model, regime, line))
    return table


def _amounts(model: CostModel, regime: Regime, line: Line) -> Table:
    """What is not zero of a line: a name and a formula in each row, then the classes that it calls."""
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for quantity, label in _PER_LINE.items():
        if (amount := str(getattr(line, quantity))) != "0":
            grid.add_row(label, formula_text(amount))
    called = [_class(model, one) for one in regime.calls if line.line <= one.line <= line.end_line]
    if called:
        grid.add_row("calls", Text(", ".join(dict.fromkeys(called))))
    return grid


def _cost(closed: Closed, place: int) -> Text:
    """The flops of all such calls, or else their pointwise operations; dots where that is long."""
    from forwardbook.entries.closed import short

    for quantity, unit in (("flops", ""), ("pointwise_ops", " pointwise")):
        value = closed.calls[place].get(quantity)
        text = None if value is None else short(value, closed.regime.definitions)
        if text is None:
            return Text("...", "dim")
        if text != "0":
            return Text.assemble(formula_text(text), (unit, "dim"))
    return Text("no arithmetic", "dim")


def _class(model: CostModel, call: Call) -> str:
    """The class that a call is of: its name where the store has it, else its key."""
    return model.names.get(call.entry, call.entry).rpartition(".")[2]


def _regime_table(regimes: Iterable[Regime]) -> Table:
    """A row for each regime: where it holds, once what its signature is called with, the verdict."""
    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("regime", overflow="fold", ratio=3)
    table.add_column("holds when", overflow="fold", ratio=4)
    table.add_column("proof", no_wrap=True)
    told = set[str]()
    for one in regimes:
        where = formula_text(", ".join(one.conditions))
        if one.choices and one.signature not in told:
            choices = ", ".join(f"{name}={value}" for name, value in sorted(one.choices.items()))
            where.append(f"{'; ' if one.conditions else ''}with {choices}", "dim")
        told.add(one.signature)
        table.add_row(Text(one.name), where, verdict_text(one.proof.verdict))
    return table


def _names(model: CostModel, key: str, holder: Entry) -> list[tuple[str, str, str, str]]:
    """Each name with its source, default and meaning; the widths of number formats that are used are last."""
    found = [
        (one.name, one.source, "" if one.default is None else f"{one.default:,}", one.meaning)
        for one in holder.names
    ]
    used = {name for one in model.regimes.signatures(key) for name in model.regimes.signature(key, one).names}
    told = {one.name for one in holder.names}
    widths = [name for name in WIDTH_MEANINGS if name in used - told]
    return found + [(name, "number format", "", WIDTH_MEANINGS[name]) for name in widths]


def _name_table(names: Sequence[tuple[str, str, str, str]]) -> Table:
    """The names, without columns in which nothing is."""
    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    shown = [place for place in range(4) if any(one[place] for one in names)]
    styles = ("cyan", "dim", "", "")
    for place in shown:
        table.add_column(("name", "from", "default", "meaning")[place], overflow="fold")
    for one in names:
        table.add_row(*(Text(one[place], styles[place]) for place in shown))
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

"""A model's formulas in, its page out: calculator, cost tree, classes, layers, devices, sweep, proof."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Final

from forwardbook.book.blocks import Block, Bullets, Code, Heading, Paragraph, Table
from forwardbook.book.inline import code, link, plain
from forwardbook.book.page import Page
from forwardbook.book.site.amounts import binary, count, share
from forwardbook.book.site.data import Roofline, RooflinePoint
from forwardbook.book.site.model_calculator import model_calculator
from forwardbook.book.site.model_proof import proof_blocks
from forwardbook.book.site.model_subject import WIDTHS, ModelSubject
from forwardbook.book.site.model_sweep import sweep_blocks
from forwardbook.book.site.model_tree import cost_tree
from forwardbook.book.site.module_page import page_stem
from forwardbook.models.record import PhaseCosts
from forwardbook.models.roofline import timings
from forwardbook.models.totals import Numbers, Totals, evaluate

PHASES: Final = ("prefill", "decode")
POINTS: Final = 12
CHOSEN: Final = ("h100-sxm", "a100-80gb-sxm", "l4")


def model_page(subject: ModelSubject) -> Page:
    """The page of a model."""
    name = f"{page_stem(subject.costs.model_id)}.md"
    return Page(name, {"search": {"exclude": "true"}}, tuple(_blocks(subject)))


def model_stem(model_id: str) -> str:
    """The name of a model's page without its ending."""
    return page_stem(model_id)


def _blocks(subject: ModelSubject) -> Iterator[Block]:
    costs = subject.costs
    yield Heading(1, plain(costs.model_id))
    yield Paragraph(link("Every model", "../models.md"))
    yield Bullets(tuple(_facts(subject)))
    phases = [(name, found) for name in PHASES if (found := subject.point(name))]
    totals = {name: evaluate(phase, sizes, WIDTHS) for name, (phase, sizes) in phases}
    yield Heading(2, "Calculator")
    yield Code("fb-calc", model_calculator(subject, dict(phases)).as_json())
    if totals:
        yield Heading(2, "Roofline")
        yield Code("fb-roofline", _roofline(totals).as_json())
    for name, (phase, sizes) in phases:
        yield from _phase(subject, phase, sizes, totals[name])
    for name, (_, sizes) in phases:
        yield from sweep_blocks(subject, name, sizes)
    yield from proof_blocks(costs)
    yield from _opinions(subject)


def _facts(subject: ModelSubject) -> Iterator[str]:
    costs, populated = subject.costs, subject.populated
    page = subject.pages.get(costs.model_class)
    name = code(costs.model_class)
    yield f"Class: {link(name, page) if page else name}"
    held = costs.weight_bytes(WIDTHS.w_bit)
    yield f"Parameters: {costs.parameter_count:,}; weights of {WIDTHS.w_bit} bit: {held:,} bytes"
    if populated is not None:
        yield f"Config: {plain(populated.source or populated.config_class)}"
        if populated.aliases:
            yield f"Also known as: {', '.join(code(alias) for alias in populated.aliases)}"
    versions = ", ".join(f"{plain(key)} {plain(text)}" for key, text in sorted(costs.versions.items()))
    yield f"Versions: {versions}"
    yield f"On the command line: {code(f'forwardbook analyze-model {costs.model_id} --phase both')}"


def _phase(
    subject: ModelSubject, phase: PhaseCosts, sizes: dict[str, int], totals: Totals
) -> Iterator[Block]:
    shown = ", ".join(f"{name} = {value:,}" for name, value in sizes.items())
    yield Heading(2, totals.phase.capitalize())
    yield Paragraph(f"At {plain(shown)}; weights, activations and cache of 16 bit; attention counted dense.")
    if caution := subject.caution(sizes):
        yield Paragraph(f"Note: {caution}.")
    whole, formulas = totals.total.whole(), phase.model.costs
    rows = tuple((f"**{name}**", f"{value:,}", _shown(name, value)) for name, value in whole.items())
    yield Table(("Quantity", "Exactly", "About"), rows)
    yield Code("math", "\n".join(f"{name} = {getattr(formulas, name)}" for name in whole))
    if phase.conditions:
        yield Paragraph("Holds when:")
        yield Code("math", "\n".join(phase.conditions))
    yield from (Paragraph(f"Assumes {plain(each)}.") for each in phase.assumptions)
    for measure, words in (("flops", "flops"), ("moved", "bytes moved")):
        tree = cost_tree(totals, "flops" if measure == "flops" else "moved")
        if tree is not None:
            yield Heading(3, f"{totals.phase.capitalize()}: where {words} go")
            yield Code("fb-tree", tree.as_json())
    yield from _classes(subject, totals)
    yield from _layers(subject, totals)
    yield from _devices(subject, totals)


def _classes(subject: ModelSubject, totals: Totals) -> Iterator[Block]:
    yield Heading(3, f"{totals.phase.capitalize()}: by class")
    found = sorted(totals.by_class().items(), key=lambda each: (-each[1].flops, -each[1].moved))
    rows = tuple(
        (_class(subject, name), *_numbers(numbers, totals.total))
        for name, numbers in found
        if any(numbers.whole().values())
    )
    yield Paragraph("What the forward() of each class adds itself, over all its calls.")
    yield Table(("Class", "Flops", "Share", "Bytes moved", "Share"), rows)


def _layers(subject: ModelSubject, totals: Totals) -> Iterator[Block]:
    yield Heading(3, f"{totals.phase.capitalize()}: by layer")
    rows = tuple(
        (
            code(row.name or "the model"), _class(subject, row.class_name), f"{row.times:,}",
            *_shortly(row.one.times(row.times), totals.total),
        )
        for row in totals.rows
    )  # fmt: skip
    yield Table(("Layer", "Class", "Calls", "Flops", "Share", "Bytes moved", "Share"), rows)


def _numbers(numbers: Numbers, whole: Numbers) -> tuple[str, str, str, str]:
    return (
        f"{int(numbers.flops):,}", share(numbers.flops, whole.flops),
        f"{int(numbers.moved):,}", share(numbers.moved, whole.moved),
    )  # fmt: skip


def _shortly(numbers: Numbers, whole: Numbers) -> tuple[str, str, str, str]:
    flops = (count(int(numbers.flops)), share(numbers.flops, whole.flops)) if numbers.flops else ("", "")
    moved = (binary(int(numbers.moved)), share(numbers.moved, whole.moved)) if numbers.moved else ("", "")
    return *flops, *moved


def _devices(subject: ModelSubject, totals: Totals) -> Iterator[Block]:
    if not subject.devices:
        return
    yield Heading(3, f"{totals.phase.capitalize()}: least time on each device")
    yield Paragraph(
        "Eager: layer after layer, every operation reads and writes memory. Fused: only inputs, weights and "
        "results move. `forwardbook analyze-model --hardware` prints the same. "
        "Both are bounds of the code that was read, not of a server."
    )
    rows = []
    for device in subject.devices:
        found = timings(totals, device)[0]
        rows.append(
            (plain(device.name), plain(device.format_for(WIDTHS)), f"{found.eager * 1e3:,.3f}", found.bound,
             f"{found.fused * 1e3:,.3f}", found.fused_bound)
        )  # fmt: skip
    yield Table(("Device", "Format", "Eager, ms", "Bound", "Fused, ms", "Bound"), tuple(rows))


def _roofline(totals: dict[str, Totals]) -> Roofline:
    points = [_point(name, each.total, _parts(each)) for name, each in totals.items()]
    for name, each in totals.items():
        layers = sorted(each.rows[1:], key=lambda row: -row.own.flops * row.times)
        points += [
            _point(f"{name}: {row.name}", row.own)
            for row in layers[: POINTS // 2]
            if row.own.flops and row.own.moved
        ]
    return Roofline(points=tuple(points), chosen=CHOSEN, w_bits=WIDTHS.w_bit, a_bits=WIDTHS.a_bit)


def _point(name: str, numbers: Numbers, parts: Mapping[tuple[str, str], int] | None = None) -> RooflinePoint:
    return RooflinePoint(
        name=name,
        flops=str(int(numbers.flops)),
        bytes=str(int(Fraction(numbers.moved))),
        parts=tuple((times, *work) for work, times in (parts or {}).items()),
    )


def _parts(totals: Totals) -> dict[tuple[str, str], int]:
    """The flops and bytes of what each layer does itself, and how often that is done."""
    found: dict[tuple[str, str], int] = {}
    for row in totals.rows:
        work = str(int(row.own.flops)), str(int(Fraction(row.own.moved)))
        if work != ("0", "0"):
            found[work] = found.get(work, 0) + row.times
    return found


def _opinions(subject: ModelSubject) -> Iterator[Block]:
    if subject.populated is None or not subject.populated.opinions:
        return
    yield Heading(2, "What the entries of its classes say")
    yield Paragraph("A second account: the formulas of the catalogue, evaluated at the layers of this model.")
    rows = tuple(
        (
            plain(phase),
            code(each.layer or "the model"),
            _class(subject, each.class_name),
            plain(each.state),
            plain(each.told),
        )
        for phase, opinions in subject.populated.opinions.items()
        for each in opinions
    )
    yield Table(("Phase", "Layer", "Class", "Entry", "Remark"), rows)


def _class(subject: ModelSubject, name: str) -> str:
    shown = plain(name.rpartition(".")[2])
    page = subject.pages.get(name)
    return link(shown, page) if page else shown


def _shown(name: str, value: int) -> str:
    return count(value) if name in ("flops", "pointwise_ops") else binary(value)

"""Values of profiling in; tables for a terminal out."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from forwardbook.pipeline.profile.chain import HEAD, chain
from forwardbook.profiling.shares import share
from forwardbook.profiling.shortening import shortened

if TYPE_CHECKING:
    from forwardbook.models.roofline import Device
    from forwardbook.pipeline.profile.check import TraceCheck
    from forwardbook.pipeline.profile.counters import CounterCheck
    from forwardbook.pipeline.profile.links import Link
    from forwardbook.profiling.kernel_list import TopKernel
    from forwardbook.profiling.trace_work import TraceWork


def table(head: Sequence[str], rows: Sequence[Sequence[str]], texts: Collection[int] = (0,)) -> str:
    """Columns as wide as their widest cell; texts to the left, numbers to the right."""
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]

    def line(cells: Sequence[str]) -> str:
        parts = (
            cell.ljust(width) if i in texts else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return "  ".join(parts).rstrip()

    return "\n".join([line(head), line(["-" * width for width in widths]), *(line(row) for row in rows)])


def kernel_table(kernels: Sequence[TopKernel]) -> str:
    """The longest kernels, names cut."""
    rows = [
        (
            shortened(one.row.name, 76),
            "unknown" if one.row.total_ns is None else f"{one.row.total_ns:,}",
            "unknown" if one.row.instances is None else f"{one.row.instances:,}",
            "unknown" if one.share is None else f"{one.share:.1%}",
        )
        for one in kernels
    ]
    return table(("kernel", "ns", "launches", "share"), rows)


def check_lines(
    check: TraceCheck, device: Device | None, counters: Sequence[CounterCheck] = ()
) -> Iterator[str]:
    """The check for people: what was said, what ran, the verdict, the rest by name."""
    sizes = ", ".join(f"{name} = {size}" for name, size in check.sizes.items())
    yield f"{check.file} on {', '.join(d for d in check.devices if d) or 'a device without a name'}"
    yield f"{check.model} ({check.phase}), {sizes}; {check.repeats} forward{'s' * (check.repeats > 1)}\n"
    head = ("modules", "formula, flops each", "calls said", "calls found", "operator and shape", "verdict")
    yield table((*head, "us", "Tflop/s"), [_row(link) for link in check.links], (0, 4, 5))
    yield ""
    yield from _totals(check)
    rows = chain(check.links, counters)
    if rows:
        yield "\nformula -> module -> operator -> kernel -> counter"
        shown = [tuple(shortened(cell, 44) for cell in row.cells()) for row in rows]
        yield table(HEAD, shown, (0, 1, 4, 5, 7))
        yield "whole names: --json"
    yield from _shares(check, device)
    for note in check.notes:
        yield f"note: {note}"
    yield from unsaid_lines(check.unsaid)
    yield from _excuses(check)
    yield _last_line(check)


def _totals(check: TraceCheck) -> Iterator[str]:
    """flops of all formulas and of all products of the trace, and what of them is excused."""
    # what a layer multiplies is one formula, be it a product of matrices or a convolution
    others = "matrix products and convolutions" if check.counted("convolution") else "matrix products"
    for kinds, word in ((("gemm", "convolution"), others), (("attention",), "attention")):
        said, ran = sum(map(check.predicted, kinds)), sum(map(check.counted, kinds))
        excused = [check.excused(kind) for kind in kinds]
        more, extra = sum(pair[0] for pair in excused), sum(pair[1] for pair in excused)
        if said or ran:
            apart = f" (excused: {more:,} and {extra:,})" if more or extra else ""
            verdict = "equal" if said - more == ran - extra else "DIFFERENT"
            yield f"{word}: formulas {said:,}, trace {ran:,}{apart}: {verdict}"


def _excuses(check: TraceCheck) -> Iterator[str]:
    for link in check.links:
        if link.excuse:
            yield f"excused: {_subject(link)}, {link.verdict}: {link.excuse}"


def _last_line(check: TraceCheck) -> str:
    """The verdict: how many kinds of product are the same, and the first that are not."""
    wrong = [link for link in check.links if not link.accepted]
    if not wrong and check.exact:
        return f"the same: {len(check.links)} kinds of product, each as often as the formulas say"
    if not wrong:
        return "NOT the same: the trace has no product of the formulas"
    first = "; ".join(f"{_subject(link)}: {link.verdict}" for link in wrong[:3])
    more = f"; and {len(wrong) - 3} more" if len(wrong) > 3 else ""
    return f"NOT the same: {len(wrong)} of {len(check.links)} kinds of product: {first}{more}"


def _subject(link: Link) -> str:
    return _names(link) if link.expected else _operators(link)


def _names(link: Link) -> str:
    return shortened(", ".join(name or "the model" for one in link.expected for name in one.names) or "-", 60)


def _operators(link: Link) -> str:
    return shortened("; ".join(f"{group.operator} {group.shape}" for group in link.found) or "-", 60)


def _row(link: Link) -> tuple[str, ...]:
    spent = [group.kernel_us for group in link.found]
    known = sum(one for one in spent if one is not None) if spent and None not in spent else None
    rate = link.total / known / 1e6 if known else None
    return (
        _names(link),
        f"{link.flops:,}",
        f"{link.predicted}",
        f"{link.calls}",
        _operators(link),
        f"{link.verdict}, excused" if link.excuse else link.verdict,
        "-" if known is None else f"{known:,.0f}",
        "-" if rate is None else f"{rate:,.1f}",
    )


def _shares(check: TraceCheck, device: Device | None) -> Iterator[str]:
    """What all products achieve while their kernels run, as a share of the dense peak."""
    spent = [g.kernel_us for link in check.links if link.expected for g in link.found]
    if not spent or None in spent:
        return
    seconds = sum(one for one in spent if one is not None) / 1e6
    done = sum(link.total for link in check.links if link.expected)
    yield f"\nachieved while products ran: {done / seconds / 1e12:,.1f} Tflop/s"
    if device is None:
        yield "MFU: not said, the device is not in the table of peaks (name it with --hardware)"
        return
    peak = device.flops.get("bf16") or device.flops.get("fp16")
    if peak is not None and check.kernel_us:
        whole = done / (check.kernel_us / 1e6)
        told = f"{peak / 1e12:,.1f} Tflop/s (bf16, dense, {device.name})"
        yield f"MFU over all kernels: {share(whole / peak)} of {told}"


def unsaid_lines(unsaid: Sequence[object]) -> Iterator[str]:
    """What ran and nobody can count."""
    for one in unsaid:
        yield f"not said: {one.name} ({one.calls}): {one.reason}"  # type: ignore[attr-defined]


def work_lines(work: TraceWork) -> Iterator[str]:
    """The products of a trace without a model."""
    rows = [
        (
            group.operator,
            group.shape,
            f"{group.calls}",
            f"{group.flops:,}",
            f"{group.total:,}",
            "-" if group.kernel_us is None else f"{group.kernel_us:,.0f}",
        )
        for group in work.groups
    ]
    yield table(("operator", "shape", "calls", "flops each", "flops", "us"), rows, (0, 1))
    for kind in ("gemm", "attention", "convolution"):
        yield f"{kind}: {work.total(kind):,} flops"
    yield from unsaid_lines(work.unsaid)

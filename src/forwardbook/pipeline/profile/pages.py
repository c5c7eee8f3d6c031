"""What a run measured in; its pages in Markdown out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from forwardbook.models.architecture import Architecture
from forwardbook.pipeline.profile.chain import ChainRow, chain_page
from forwardbook.pipeline.profile.compare import CallComparison
from forwardbook.pipeline.profile.model import Prepared
from forwardbook.pipeline.profile.rates import DevicePeaks, Rates
from forwardbook.profiling.shares import share

if TYPE_CHECKING:
    from forwardbook.profiling.passes.flops import CountedCall
    from forwardbook.profiling.passes.memory import PeakCall
    from forwardbook.profiling.passes.operators import OperatorRow
    from forwardbook.profiling.passes.timing import Timing
    from forwardbook.profiling.passes.traffic import TrafficCall


@dataclass
class Results:
    """Everything of one run, filled pass by pass; what is empty was not asked for or not reached."""

    architecture: Architecture
    ready: Prepared
    device: str
    dtype: str
    derives: bool = True
    """Whether formulas were asked for."""
    timing: Timing | None = None
    operators: Sequence[OperatorRow] = ()
    counted: Sequence[CountedCall] = ()
    moved: Sequence[TrafficCall] = ()
    peaks: Sequence[PeakCall] = ()
    comparisons: Sequence[CallComparison] = ()
    rates: Sequence[Rates] = ()
    peaks_of_device: DevicePeaks | None = None
    chains: Mapping[str, Sequence[ChainRow]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def exact(self) -> bool:
        """Whether all that was held against formulas is equal."""
        return bool(self.comparisons) and all(one.exact for one in self.comparisons)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _number(value: float | int | None, form: str = ",") -> str:
    return "not known" if value is None else format(value, form)


def operators_page(rows: Sequence[OperatorRow], topk: int) -> str:
    """The operators that took most time by themselves."""
    lines = ["# Operators", "", "Times of the profiled pass; the timing pass is in metrics.json.", ""]
    lines += [
        "| Operator | Calls | Self CPU us | CPU us | Self device us | Device us |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| `{_cell(row.name)}` | {row.calls} | {row.self_cpu_us:,.1f} | {row.cpu_us:,.1f} | "
        f"{_number(row.self_device_us, ',.1f')} | {_number(row.device_us, ',.1f')} |"
        for row in rows[:topk]
    ]
    return "\n".join(lines) + "\n"


def static_page(found: Sequence[CallComparison]) -> str:
    """Formulas beside what ran, for each call and module."""
    return "\n".join(_static(found)) + "\n"


def _static(found: Sequence[CallComparison]) -> Iterator[str]:
    yield "# Formulas beside what ran\n"
    yield "| Call | Phase | Positions | In the cache | Quantity | Formula | Measured | Difference |"
    yield "|---:|---|---:|---:|---|---:|---:|---:|"
    for one in found:
        call = one.call
        head = f"| {call.index} | {call.phase} | {_number(call.positions)} | {call.past} "
        if one.refused:
            yield f"{head}| no formula: {_cell(one.refused)} | | | |"
        for pair in one.pairs:
            yield f"{head}| {pair.quantity} | {pair.predicted:,} | {pair.measured:,} | {pair.difference:,} |"
    for phase in dict.fromkeys(one.call.phase for one in found):
        first = next(one for one in found if one.call.phase == phase)
        if not first.modules:
            continue
        yield f"\n## Modules of the first {phase}\n"
        yield "| Module | Class | Times | Quantity | Formula | Measured | Difference |"
        yield "|---|---|---:|---|---:|---:|---:|"
        for module in first.modules:
            short = module.class_name.rpartition(".")[2]
            for pair in module.pairs:
                yield (
                    f"| `{_cell(module.name)}` | {short} | {module.times} | {pair.quantity} | "
                    f"{pair.predicted:,} | {pair.measured:,} | {pair.difference:,} |"
                )


def report_page(results: Results) -> str:
    """What was measured, with how it was."""
    return "\n".join(_report(results)) + "\n"


def _report(results: Results) -> Iterator[str]:
    yield f"# Profile of {results.architecture.model_id}\n"
    sizes = ", ".join(f"{name} = {size}" for name, size in results.ready.sizes.items())
    yield f"- class: `{results.architecture.model_class}`"
    yield f"- device: {results.device}, {results.dtype}; {sizes}"
    yield from (f"- {note}" for note in results.ready.notes)
    peaks = results.peaks_of_device
    if peaks is not None:
        told = f"{_rate(peaks.flops, 'flop/s')}, {_rate(peaks.bandwidth, 'byte/s')}"
        yield f"- peaks ({peaks.format}): {told}; {peaks.source}"
        if peaks.spread is not None:
            yield f"- spread of the measured peaks: {peaks.spread:.0%}"
    yield from _timing(results)
    yield "\n## Formulas against the run\n"
    if results.comparisons:
        equal = sum(one.exact for one in results.comparisons)
        parts = ("flops, bytes of products",) * bool(results.counted) + ("peak",) * bool(results.peaks)
        yield f"{equal} of {len(results.comparisons)} calls equal in {' and '.join(parts)};"
        yield "see `static_analysis/static_compute.md`."
    elif not results.derives:
        yield "Nothing was compared: no formulas were asked for (`pipeline.static_analysis.enable` is false)."
    else:
        yield "Nothing was compared: neither the pass flops nor the pass memory ran."
    yield from _chain(results)


def _rate(value: float | None, unit: str) -> str:
    return "not known" if value is None else f"{value / 1e9:,.1f} G{unit}"


def _timing(results: Results) -> Iterator[str]:
    if results.timing is None:
        return
    yield f"\n## Time\n\n{results.timing.method}; {results.timing.warmup} warm-up runs.\n"
    yield (
        "| Phase | Samples | Median ms | Spread ms | flops of a call | Gflop/s | MFU | Least bytes | GB/s "
        "| MBU | Tokens/s |"
    )
    yield "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    known = {rate.phase: rate for rate in results.rates}
    for phase in results.timing.phases():
        samples = sorted(one * 1e3 for one in results.timing.of(phase))
        range_ = f"{samples[0]:.3f} to {samples[-1]:.3f}"
        head = f"| {phase} | {len(samples)} | {samples[len(samples) // 2]:.3f} | {range_} "
        rate = known.get(phase)
        if rate is None:
            yield f"{head}| not known | | | | | | |"
            continue
        yield (
            f"{head}| {rate.flops:,} | {rate.flop_per_second / 1e9:,.2f} | {share(rate.mfu)} | "
            f"{rate.least_bytes:,} | {rate.byte_per_second / 1e9:,.2f} | {share(rate.mbu)} | "
            f"{_number(rate.tokens_per_second, ',.1f')} |"
        )
    notes = [f"- {rate.phase}: {rate.note}" for rate in results.rates if rate.note]
    if notes:
        yield "\n" + "\n".join(notes)


def _chain(results: Results) -> Iterator[str]:
    """From formulas to kernels, for the first call of each phase."""
    yield "\n## From formula to kernel\n"
    if not results.chains:
        yield "Not known: the pass of operators, or the formulas, did not run."
        return
    yield "Formula -> module -> operator -> kernel -> counter, the first call of each phase. A processor has"
    yield "no kernels; counters come from Nsight Compute: `forwardbook profile check --trace"
    yield "torch_profiler/trace.json --model MODEL --ncu FOLDER`. Operators: `operators.md`."
    for phase, rows in results.chains.items():
        yield f"\n### {phase}\n"
        yield from chain_page(rows)


def stakeholder_page(results: Results, topk: int) -> str:
    """The same in short: where time goes and what bounds it."""
    return "\n".join(_stakeholder(results, topk)) + "\n"


def _stakeholder(results: Results, topk: int) -> Iterator[str]:
    yield f"# {results.architecture.model_id} in short\n"
    peaks = results.peaks_of_device
    yield f"Device: {peaks.name if peaks is not None else results.device}, {results.dtype}.\n"
    for rate in results.rates:
        yield (
            f"- {rate.phase}: {rate.seconds * 1e3:.3f} ms a call, {_bound(rate, peaks)}; "
            f"MFU {share(rate.mfu)}, MBU {share(rate.mbu)}"
        )
    if results.comparisons:
        word = "equal" if results.exact else "NOT equal"
        yield f"- formulas and measurement are {word} in every call that was compared"
    yield "\n## Operators that took most time\n"
    for row in results.operators[: min(topk, 5)]:
        spent = row.self_device_us if row.self_device_us is not None else row.self_cpu_us
        yield f"- `{_cell(row.name)}`: {spent:,.0f} us in {row.calls} calls"


def _bound(rate: Rates, peaks: DevicePeaks | None) -> str:
    """On which side of the ridge of this device the phase lies."""
    if peaks is None or not peaks.flops or not peaks.bandwidth:
        return "peaks of this device are not known"
    ridge, intensity = peaks.flops / peaks.bandwidth, rate.flops / rate.least_bytes
    side = "arithmetic" if intensity >= ridge else "memory"
    return f"{intensity:.1f} flops for each byte, bound by {side} (the ridge is at {ridge:.1f})"

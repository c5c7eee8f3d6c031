"""A trace and a model in; each product of the formulas beside the calls that ran it, equal or not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import gcd

from forwardbook.models.record import LayerCosts, PhaseCosts
from forwardbook.models.totals import Totals, Widths, evaluate, parsed
from forwardbook.pipeline.model_pipeline import Model
from forwardbook.pipeline.model_source import ModelRefused
from forwardbook.profiling.readers.torch_trace import TorchTrace
from forwardbook.profiling.trace_work import TraceWork, Unsaid, WorkGroup, work_of


@dataclass(frozen=True)
class Expected:
    """What modules are said to compute in one product: flops of one, how many in one forward."""

    names: tuple[str, ...]
    class_name: str
    kind: str
    flops: int
    times: int


@dataclass(frozen=True)
class Link:
    """Products of equal flops: the modules said to run them, the calls that did, and the verdict."""

    flops: int
    expected: tuple[Expected, ...]
    found: tuple[WorkGroup, ...]
    repeats: int

    @property
    def predicted(self) -> int:
        """Calls that the formulas say one trace of `repeats` forwards has."""
        return sum(one.times for one in self.expected) * self.repeats

    @property
    def calls(self) -> int:
        """Calls in the trace."""
        return sum(group.calls for group in self.found)

    @property
    def verdict(self) -> str:
        """equal, different, not run (no such call), or not in the formulas."""
        if not self.found:
            return "not run"
        if not self.expected:
            return "not in the formulas"
        return "equal" if self.predicted == self.calls else "different"


@dataclass(frozen=True)
class TraceCheck:
    """The trace beside the formulas at the sizes that it ran."""

    file: str
    devices: tuple[str, ...]
    model: str
    phase: str
    sizes: Mapping[str, int]
    repeats: int
    links: tuple[Link, ...]
    unsaid: tuple[Unsaid, ...]
    notes: tuple[str, ...] = ()
    kernel_us: float = 0.0

    def predicted(self, kind: str) -> int:
        """flops that the formulas say of the products that ran."""
        ran = (link for link in self.links if link.found)
        return sum(e.flops * e.times * self.repeats for link in ran for e in link.expected if e.kind == kind)

    def counted(self, kind: str, matched: bool = True) -> int:
        """flops of the trace's calls, of those that the formulas know alone or of all."""
        links = (link for link in self.links if link.expected or not matched)
        return sum(group.total for link in links for group in link.found if group.kind == kind)

    @property
    def exact(self) -> bool:
        """Whether every product that ran and that the formulas know ran as often as they say."""
        return any(link.verdict == "equal" for link in self.links) and not any(
            link.verdict == "different" for link in self.links
        )


def check_trace(trace: TorchTrace, model: Model, sizes: Mapping[str, int], widths: Widths) -> TraceCheck:
    """The formulas of a prefill held against a trace; sizes that are not given are read off the trace.

    Raises:
        SizesRefused: for sizes that the trace does not tell.
        ModelRefused: where the model cannot be run at these sizes.
    """
    work = work_of(trace)
    told = {**sizes_of(trace), **sizes}
    phase = "decode" if "kv_len" in sizes else "prefill"
    costs = model.phase(phase, told, widths)
    known = {p.name: told[p.name] for p in costs.parameters}
    totals = evaluate(costs, known, widths)
    expected = expectations(costs, totals)
    links, repeats = linked(expected, work.groups)
    return TraceCheck(
        file=trace.file,
        devices=tuple(dict.fromkeys(trace.devices)),
        model=model.architecture.model_id,
        phase=phase,
        sizes=known,
        repeats=repeats,
        links=links,
        unsaid=work.unsaid,
        notes=tuple(_notes(links, work, sizes, told)),
        kernel_us=work.kernel_us,
    )


def sizes_of(trace: TorchTrace) -> dict[str, int]:
    """Batch and length as the look-ups of token embeddings had them; the largest table is that of tokens."""
    found: dict[int, tuple[int, int]] = {}
    for one in trace.operators:
        if one.name == "aten::embedding" and one.shapes and len(one.shapes) > 1:
            table, indices = one.shapes[0], one.shapes[1]
            if len(table) == 2 and len(indices) == 2:
                found.setdefault(table[0], (indices[0], indices[1]))
    if not found:
        return {}
    batch, length = found[max(found)]
    return {"batch_size": batch, "seq_len": length}


def expectations(costs: PhaseCosts, totals: Totals) -> list[Expected]:
    """The products of each layer's own forward(): attention by itself, and what else it multiplies."""
    found: dict[tuple[str, str, int], Expected] = {}
    rows = {row.name: row for row in totals.rows}
    values = {**totals.sizes, **totals.widths.in_bytes()}
    for name, times, layer in costs.model.walk():
        row = rows[name]
        attention = list(_attention(layer, values))
        rest = int(row.own.flops) - sum(flops * count for flops, count in attention)
        parts = [("attention", flops, times * count) for flops, count in attention]
        parts += [("gemm", rest, times)] if rest else []
        for kind, flops, number in parts:
            key = (layer.class_name, kind, flops)
            known = found.get(key, Expected((), layer.class_name.rpartition(".")[2], kind, flops, 0))
            found[key] = Expected((*known.names, name), known.class_name, kind, flops, known.times + number)
    return list(found.values())


def _attention(layer: LayerCosts, values: Mapping[str, object]) -> Iterable[tuple[int, int]]:
    from forwardbook.formula.rational import rational_value

    for one in layer.attention:
        yield int(rational_value(parsed(one.dense), values)), one.count  # type: ignore[arg-type]


def linked(expected: Sequence[Expected], groups: Sequence[WorkGroup]) -> tuple[tuple[Link, ...], int]:
    """Modules and calls of equal flops side by side, and how many forwards the trace holds."""
    wanted: dict[tuple[bool, int], list[Expected]] = {}
    ran: dict[tuple[bool, int], list[WorkGroup]] = {}
    for one in expected:
        wanted.setdefault((one.kind == "attention", one.flops), []).append(one)
    for group in groups:
        ran.setdefault((group.kind == "attention", group.flops), []).append(group)
    repeats = _repeats(wanted, ran)
    keys = sorted(wanted.keys() | ran.keys(), key=lambda key: -key[1])
    links = tuple(Link(key[1], tuple(wanted.get(key, ())), tuple(ran.get(key, ())), repeats) for key in keys)
    return links, repeats


def _repeats(
    wanted: Mapping[tuple[bool, int], Sequence[Expected]], ran: Mapping[tuple[bool, int], Sequence[WorkGroup]]
) -> int:
    """The number of forwards: what all counts of calls have in common beyond the formulas' counts."""
    found = 0
    for key in wanted.keys() & ran.keys():
        said, calls = sum(e.times for e in wanted[key]), sum(g.calls for g in ran[key])
        if calls % said:
            return 1
        found = gcd(found, calls // said)
    return found or 1


def _notes(
    links: Sequence[Link], work: TraceWork, given: Mapping[str, int], told: Mapping[str, int]
) -> Iterable[str]:
    if missing := [link for link in links if link.verdict == "not run"]:
        names = ", ".join(name or "the model" for link in missing for e in link.expected for name in e.names)
        yield f"the trace does not run {names}"
    for link in links:
        for group in link.found if link.verdict == "not in the formulas" else ():
            yield (
                f"{group.operator} {group.shape} ({group.calls} calls, {group.total:,} flops) "
                f"is in no formula{_guess(group)}"
            )
    if read := sorted(set(told) - set(given)):
        yield f"read off the trace: {', '.join(f'{name} = {told[name]}' for name in read)}"
    if work.kernel_us:
        share = work.attributed_us / work.kernel_us
        yield f"{share:.0%} of the time of all kernels is spent in the products above"


def _guess(group: WorkGroup) -> str:
    """Rotary frequencies were a product of a column and a row in older versions of transformers."""
    column_by_row = group.shape.startswith("1 of ") and "x1 @ 1x" in group.shape
    return ": the rotary frequencies of older versions of transformers" if column_by_row else ""


def refuse_without_shapes(trace: TorchTrace) -> None:
    """A trace without shapes, or without operators, can be held against nothing.

    Raises:
        ModelRefused: for such a trace.
    """
    if not trace.has_shapes:
        raise ModelRefused(
            f"holding {trace.file} against formulas: it has no shapes of inputs; profile again with "
            "record_shapes=True"
        )

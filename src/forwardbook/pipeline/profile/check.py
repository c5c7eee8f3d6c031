"""A trace and a model in; each product of the formulas beside the calls that ran it, equal or not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from forwardbook.formula import parse
from forwardbook.models.record import AttentionCost, LayerCosts, PhaseCosts
from forwardbook.models.totals import Totals, Widths, evaluate, parsed
from forwardbook.pipeline.model.pipeline import Model, dtype_of
from forwardbook.pipeline.model.source import ModelRefused
from forwardbook.pipeline.profile.excuses import with_excuses
from forwardbook.pipeline.profile.links import EQUAL, Expected, Link, linked
from forwardbook.profiling.readers.torch_trace import TorchTrace
from forwardbook.profiling.trace_work import TraceWork, Unsaid, work_of


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
        """flops of every product that the formulas say."""
        said = (one for link in self.links for one in link.expected if one.kind == kind)
        return sum(one.flops * one.times for one in said) * self.repeats

    def counted(self, kind: str) -> int:
        """flops of every product in the trace; those of an unfused attention are attention."""
        return sum(_ran(link, kind) for link in self.links)

    def excused(self, kind: str) -> tuple[int, int]:
        """Of these flops, those that a reason excuses: of the formulas, and in the trace."""
        links = [link for link in self.links if link.excuse]
        said = (one for link in links for one in link.expected if one.kind == kind)
        ran = sum(_ran(link, kind) for link in links)
        return sum(one.flops * one.times for one in said) * self.repeats, ran

    @property
    def exact(self) -> bool:
        """Whether both sides have the same products, as often, but for those that a reason excuses."""
        return any(link.verdict in EQUAL for link in self.links) and all(link.accepted for link in self.links)


def _ran(link: Link, kind: str) -> int:
    """flops of the calls of a link that count as that kind."""
    if link.summed:
        return link.total if link.expected[0].kind == kind else 0
    return sum(group.total for group in link.found if group.kind == kind)


def check_trace(
    trace: TorchTrace, model: Model, sizes: Mapping[str, int], widths: Widths, allowed: Sequence[str] = ()
) -> TraceCheck:
    """The formulas of a prefill, or of a decode step where `kv_len` is given, held against a trace.

    Sizes that are not given are read off the trace. `allowed` are modules and operators that may be on one
    side alone. Of a trace that marks its phases, as those of
    `profile run` do, the first prefill is meant, or the step that finds `kv_len` positions in the cache.

    Raises:
        SizesRefused: for sizes that the trace does not tell.
        ModelRefused: where the model cannot be run at these sizes, or the trace has no such step.
    """
    phase = "decode" if "kv_len" in sizes else "prefill"
    told = {**sizes_of(trace), **sizes}
    trace, chosen = one_phase(trace, phase, told)
    work = work_of(trace)
    costs = (_generated(trace, model, phase, told, widths) if chosen else None) or model.phase(
        phase, told, widths
    )
    known = {p.name: told[p.name] for p in costs.parameters}
    expected = expectations(costs, evaluate(costs, known, widths))
    links, repeats = linked(expected, work.groups)
    links = with_excuses(links, told, allowed)
    return TraceCheck(
        file=trace.file,
        devices=tuple(dict.fromkeys(trace.devices)),
        model=model.architecture.model_id,
        phase=phase,
        sizes=known,
        repeats=repeats,
        links=links,
        unsaid=work.unsaid,
        notes=(*chosen, *_notes(work, sizes, told, sizes_of(trace))),
        kernel_us=work.kernel_us,
    )


def _generated(
    trace: TorchTrace, model: Model, phase: str, told: Mapping[str, int], widths: Widths
) -> PhaseCosts | None:
    """What calls of `generate` cost, as a decoder gets them on that device; nothing for other models.

    Traces that mark their phases are of such calls: the last position alone meets the head.
    """
    from forwardbook.pipeline.profile.model import phases_on
    from forwardbook.pipeline.profile.predict import Predictor
    from forwardbook.profiling.passes.workload import CallSeen

    phases, generates, encodes = phases_on(model.architecture, "cuda" if any(trace.devices) else "cpu")
    if not generates or encodes:
        return None
    predictor = Predictor({one.name: one for one in phases}, dtype_of(widths.a_bit), told)
    return predictor.formulas(CallSeen(0, phase, None, told.get("kv_len", 0)))[0]


def one_phase(trace: TorchTrace, phase: str, told: Mapping[str, int]) -> tuple[TorchTrace, tuple[str, ...]]:
    """The part of a trace that is one call of a phase, and a note; the whole where phases are not marked.

    Raises:
        ModelRefused: where the phases are marked and this one did not run.
    """
    marked = trace.named(phase)
    if not marked:
        if trace.named("prefill"):
            raise ModelRefused(
                f"holding {trace.file} against {phase}: it marks its phases and has no {phase}"
            )
        return trace, ()
    step = told["kv_len"] - told.get("seq_len", told["kv_len"]) if phase == "decode" else 0
    if not 0 <= step < len(marked):
        first = told.get("seq_len", 0)
        last = first + len(marked) - 1
        raise ModelRefused(
            f"holding {trace.file} against a decode step at kv_len = {told['kv_len']}: its steps find "
            f"{first} to {last} positions in the cache"
        )
    note = f"the trace marks its phases: {phase} {step + 1} of {len(marked)} is held against the formulas"
    return trace.within(marked[step]), (note,)


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
            known = found.get(key) or Expected(
                (), layer.class_name.rpartition(".")[2], kind, flops, 0, _formula(layer, kind, flops, values)
            )
            found[key] = replace(known, names=(*known.names, name), times=known.times + number)
    return list(found.values())


def _attention(layer: LayerCosts, values: Mapping[str, object]) -> Iterable[tuple[int, int]]:
    from forwardbook.formula.rational import rational_value

    for one in _kernels(layer):
        yield int(rational_value(parsed(one.dense), values)), one.count  # type: ignore[arg-type]


def _kernels(layer: LayerCosts) -> list[AttentionCost]:
    """Attention that is one kernel; that of eager code is two products as any other."""
    return [one for one in layer.attention if one.fused]


def _formula(layer: LayerCosts, kind: str, flops: int, values: Mapping[str, object]) -> str:
    """The formula of what a layer's own forward() multiplies: of one attention, or of all but attentions."""
    if kind == "attention":
        pairs = zip(_kernels(layer), _attention(layer, values), strict=True)
        return next(one.dense for one, (said, _) in pairs if said == flops)
    own = parse(layer.costs.flops)
    for beneath in layer.sub_layers:
        own -= parse(beneath.costs.flops) * beneath.repeat
    for one in _kernels(layer):
        own -= parse(one.dense) * one.count
    return str(own)


def _notes(
    work: TraceWork, given: Mapping[str, int], told: Mapping[str, int], seen: Mapping[str, int]
) -> Iterable[str]:
    if read := sorted(set(told) - set(given)):
        yield f"read off the trace: {', '.join(f'{name} = {told[name]}' for name in read)}"
    if others := sorted(name for name in seen if name in given and given[name] != seen[name]):
        told_of = ", ".join(f"{name} = {seen[name]}, not {given[name]}" for name in others)
        yield f"the look-ups of token embeddings in the trace have {told_of}"
    if work.kernel_us:
        share = work.attributed_us / work.kernel_us
        yield f"{share:.0%} of the time of all kernels is spent in the products above"


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

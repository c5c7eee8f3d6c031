"""Links of formulas and calls in; the chain formula, module, operator, kernel, counter, by rows, out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forwardbook.pipeline.profile.check import expectations
from forwardbook.pipeline.profile.links import Link, linked, stands_for
from forwardbook.profiling.trace_work import Place, WorkGroup, together, work_of

if TYPE_CHECKING:
    from pathlib import Path

    from forwardbook.pipeline.profile.counters import CounterCheck
    from forwardbook.pipeline.profile.predict import Predictor
    from forwardbook.profiling.passes.workload import CallSeen, Workload

HEAD = ("Formula", "Modules", "flops each", "Calls", "Operator and shape", "Kernel", "us", "Counter")
NONE = "-"
CODE = (0, 1, 4, 5)  # columns that are formulas or names


@dataclass(frozen=True)
class ChainRow:
    """One kernel (or none, on a processor) of one operator within modules of one formula.

    `modules` are certain where the trace says in which module each operator ran; else they are all those
    whose formula gives the same flops, and `certain` is False where there are several.
    """

    formula: str
    modules: tuple[str, ...]
    certain: bool
    flops: int
    calls: int
    operator: str
    shape: str
    kernel: str
    launches: int
    microseconds: float | None
    counters: tuple[str, ...] = ()

    def cells(self) -> tuple[str, ...]:
        """The row as text under HEAD."""
        names = ", ".join(name or "the model" for name in self.modules) or NONE
        return (
            self.formula or NONE,
            names if self.certain or not self.modules else f"one of {names}",
            f"{self.flops:,}",
            f"{self.calls:,}",
            f"{self.operator} {self.shape}",
            self.kernel or NONE,
            NONE if self.microseconds is None else f"{self.microseconds:,.0f}",
            "; ".join(self.counters) or NONE,
        )


def chain(
    links: Sequence[Link], counters: Sequence[CounterCheck] = (), prefix: str = ""
) -> tuple[ChainRow, ...]:
    """A row for each kernel of each product, those with most flops first.

    `prefix` is where the called module stands in the model whose paths the trace has: `encoder` for an
    encoder that was called by itself.
    """
    return tuple(
        row
        for link in links
        for group in ([_one(link)] if link.summed else link.found)
        for row in _rows(link, group, counters, prefix)
    )


def phase_chains(
    path: Path, calls: Sequence[CallSeen], predictor: Predictor, workload: Workload
) -> dict[str, tuple[ChainRow, ...]]:
    """The chain of the first call of each phase, out of the trace of the same workload."""
    from forwardbook.profiling.passes.traffic import path_of_encoder
    from forwardbook.profiling.readers.torch_trace import read_torch_trace

    trace = read_torch_trace(path)
    found: dict[str, tuple[ChainRow, ...]] = {}
    for call in calls:
        marked = trace.named(call.phase)
        if call.phase in found or not marked:
            continue
        costs, totals = predictor.formulas(call)
        prefix = path_of_encoder(workload) if call.phase == "encode" else ""
        links, _ = linked(expectations(costs, totals), work_of(trace.within(marked[0])).groups, prefix)
        found[call.phase] = chain(links, prefix=prefix)
    return found


def _one(link: Link) -> WorkGroup:
    """All products that one formula stands for, as one."""
    modules = {
        path: together([g.modules[path] for g in link.found if path in g.modules])
        for path in dict.fromkeys(path for group in link.found for path in group.modules)
    }
    whole = together(list(modules.values()) or [Place(g.calls, g.launches, g.kernels) for g in link.found])
    names = "; ".join(dict.fromkeys(group.operator for group in link.found))
    shape = f"in {len(link.found)} shapes, together {link.total:,} flops"
    first = link.found[0]
    return WorkGroup(
        names, first.kind, shape, link.flops, whole.calls, whole.kernels, whole.launches, modules
    )


def _rows(link: Link, group: WorkGroup, counters: Sequence[CounterCheck], prefix: str) -> Iterator[ChainRow]:
    for names, formula, place in _places(link, group, prefix):
        certain = bool(group.modules) or len(names) <= 1
        kernels: Mapping[str, float | None] = dict(place.kernels) or {"": None}
        for kernel, spent in sorted(kernels.items(), key=lambda pair: -(pair[1] or 0)):
            yield ChainRow(
                formula=formula,
                modules=names,
                certain=certain,
                flops=link.flops,
                calls=place.calls,
                operator=group.operator,
                shape=group.shape,
                kernel=kernel,
                launches=place.launches,
                microseconds=spent,
                counters=tuple(_counted(group, counters)),
            )


def _places(link: Link, group: WorkGroup, prefix: str) -> Iterator[tuple[tuple[str, ...], str, Place]]:
    """Modules with their formula and what ran in them; one place for all where the trace names no modules."""
    whole = Place(group.calls, group.launches, group.kernels)
    if not link.expected:
        yield tuple(group.modules), "", whole
    elif not group.modules:
        names = tuple(name for one in link.expected for name in one.names)
        yield names, link.expected[0].formula, whole
    else:
        rest = dict(group.modules)
        for one in link.expected:
            for name in one.names:
                inside = [path for path in rest if stands_for([name], path, prefix)]
                if inside:
                    yield (name,), one.formula, together([rest.pop(path) for path in inside])
        if rest:
            yield tuple(rest), "", together(list(rest.values()))


def _counted(group: WorkGroup, counters: Sequence[CounterCheck]) -> Iterator[str]:
    for one in counters:
        if one.group == group and one.padding is not None:
            yield f"{one.kernel.label}: {one.padding.text}"


def chain_page(rows: Sequence[ChainRow]) -> Iterator[str]:
    """The chain as a table of Markdown."""
    yield f"| {' | '.join(HEAD)} |"
    yield "|---|---|---:|---:|---|---|---:|---|"
    for row in rows:
        texts = [text.replace("|", "\\|").replace("\n", " ") for text in row.cells()]
        cells = (f"`{text}`" if n in CODE and text != NONE else text for n, text in enumerate(texts))
        yield f"| {' | '.join(cells)} |"

"""The name of a tool in; what builds a subject for it, counts once and says how long that took, out."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Protocol, cast

from benchmarks.analytic import FORMULAS, Formula, fields
from benchmarks.counters import TOOLS, Report, Tool, flop_counter_mode, quietly
from benchmarks.measuring import many, timed
from benchmarks.plain_models import MODELS
from benchmarks.subjects import BY_NAME, Subject, config_of
from benchmarks.workers import Answer

if TYPE_CHECKING:
    from forwardbook.models.record import PhaseCosts

OURS: Final = ("forwardbook, flops", "forwardbook, all quantities", "forwardbook, every layer")
CALLS: Final = (1000, 1000, 20)  # of our evaluations per round: one takes microseconds


class Side(Protocol):
    """What a worker asks."""

    def build(self, name: str) -> Answer:
        """Makes the model, or the formulas, ready; seconds of that."""
        ...

    def count(self) -> Answer:
        """One count."""
        ...


def side(name: str) -> Side:
    """What answers in the process of that name."""
    if name in OURS:
        return OurSide(name)
    for formula in FORMULAS:
        if formula.name == name:
            return FormulaSide(formula)
    return ToolSide(next((tool for tool in TOOLS if tool.name == name), None))


class ToolSide:
    """A counter with its model; without one, torch's own with experts multiplied in batches."""

    def __init__(self, tool: Tool | None) -> None:
        self.batched = tool is None
        self.tool = tool or Tool("", "torch", flop_counter_mode)

    def build(self, name: str) -> Answer:
        begin = time.perf_counter()
        self.model, self.tensor = BY_NAME[name].build()
        if self.batched:
            cast("Callable[[str], None]", self.model.model.set_experts_implementation)("batched_mm")
        return time.perf_counter() - begin, ""

    def count(self) -> Answer:
        import torch

        reports: list[Report] = []

        def run() -> None:
            with torch.device(self.tensor.device):
                reports.append(quietly(self.tool, self.model, self.tensor))

        return timed(run), reports[0]


class FormulaSide:
    """Formulas that others wrote for language models."""

    def __init__(self, formula: Formula) -> None:
        self.formula = formula

    def build(self, name: str) -> Answer:
        subject = BY_NAME[name]
        known = fields(config_of(subject))
        if known is None or "seq_len" not in subject.sizes:
            return 0.0, "no decoder that its formulas describe"
        self.counted, self.sizes = self.formula.prepare(known), subject.sizes
        return 0.0, ""

    def count(self) -> Answer:
        reports: list[Report] = []
        batch, seq = self.sizes["batch_size"], self.sizes["seq_len"]
        return timed(lambda: reports.append(self.counted(batch, seq))), reports[0]


class OurSide:
    """Our formulas, as they are kept."""

    def __init__(self, name: str) -> None:
        self.place = OURS.index(name)

    def build(self, name: str) -> Answer:
        subject = BY_NAME[name]
        begin = time.perf_counter()
        self.evaluate = _evaluation(_kept(subject), subject, self.place)
        self.evaluate()
        return time.perf_counter() - begin, ""

    def count(self) -> Answer:
        calls = CALLS[self.place]
        flops = self.evaluate()
        return timed(many(self.evaluate, calls)) / calls, Report(flops, flops)


def _evaluation(phase: PhaseCosts, subject: Subject, place: int) -> Callable[[], int]:
    """What is timed: the one formula, the model's eight, or those of every layer."""
    from forwardbook.models.program import parsed
    from forwardbook.models.totals import Widths, evaluate, whole

    sizes, widths = dict(subject.sizes), Widths()
    flops = parsed(phase.model.costs.flops)
    choices: tuple[Callable[[], int], ...] = (
        lambda: flops.evaluate(sizes),
        lambda: int(whole(phase, sizes, widths).flops),
        lambda: int(evaluate(phase, sizes, widths).total.flops),
    )
    return choices[place]


def _kept(subject: Subject) -> PhaseCosts:
    from forwardbook.models.record import ModelCosts
    from forwardbook.models.totals import Widths, holding

    text = (MODELS / f"{subject.model_id}.costs.json").read_text(encoding="utf-8")
    return holding(ModelCosts.model_validate_json(text).phases, "prefill", subject.sizes, Widths())

"""A claim that measurement confirmed in, the record of its class out."""

from __future__ import annotations

from collections.abc import Sequence

from forwardbook.analyzers.reader import Facts, line_map
from forwardbook.formula import Condition, Expr
from forwardbook.pipeline.derivation.defaults import plain_defaults
from forwardbook.pipeline.versions import current_versions
from forwardbook.profiling.claim import Claim, ClaimedLine, Counted, Named
from forwardbook.profiling.claim_judged import Judged
from forwardbook.profiling.counter_judge import COUNTER, uncounted
from forwardbook.profiling.proof import UNEQUAL
from forwardbook.saying import ALONE
from forwardbook.schema import (
    CodeLocation,
    Entry,
    FlopAnalysis,
    FlopLine,
    Judge,
    MemoryAnalysis,
    MemoryLine,
    Parameter,
    Proof,
    ProofPoint,
    Regime,
    Verdict,
)
from forwardbook.verdicts import judged as judged_by_facts

_WIDTH_MEANING = "bytes of one element: a number format"


def entry_of(facts: Facts, library: str, claim: Claim, judged: Judged, verdict: Verdict) -> Entry:
    """The record; a judge that contradicts the flops makes it unproved."""
    regime = _regime(facts, claim, judged, verdict, _judges(judged))
    made = Entry(
        full_class_name=facts.full_class_name,
        library=library,
        code_location=CodeLocation(
            file=facts.relative_file, line_start=facts.span.line, line_end=facts.span.end_line
        ),
        source_hash=facts.source_hash,
        versions=current_versions(library),
        defaults=plain_defaults(facts.full_class_name, "__init__"),
        call_defaults=plain_defaults(facts.full_class_name, "forward"),
        parameters=tuple(_parameters(claim, judged, regime.parameters)),
        regimes=(regime,),
        derived_by=("agent",),
    )
    return judged_by_facts(made)


def claim_of(entry: Entry) -> Claim:
    """The claim that a stored entry makes, to be measured again."""
    [regime] = entry.regimes
    flops, memory = regime.flop_analysis, regime.memory_analysis
    moved = {one.line: one for one in memory.lines}
    meanings = {one.name: one.meaning for one in entry.parameters}
    counted = entry.proposal.counted if entry.proposal is not None else {}
    return Claim(
        lines=tuple(
            ClaimedLine(
                line=one.line,
                flops=one.flops,
                pointwise_ops=one.pointwise_ops,
                reads=moved[one.line].reads,
                writes=moved[one.line].writes,
            )
            for one in flops.lines
        ),
        weights=memory.weights,
        boundary=memory.boundary,
        intermediates=memory.intermediates,
        peak=memory.peak,
        counted=tuple(Counted(name=n, meaning=meanings.get(n, ""), line=line) for n, line in counted.items()),
        conditions=regime.conditions,
        names=tuple(Named(name=n, meaning=text) for n, text in meanings.items() if n not in counted),
        reasoning=flops.reasoning,
    )


def _regime(facts: Facts, claim: Claim, judged: Judged, verdict: Verdict, judges: Sequence[Judge]) -> Regime:
    file = facts.forward.file if facts.forward else facts.file
    conditions = [*claim.conditions]
    if set(judged.dtypes) == {"float32"}:
        conditions.append(Condition(Expr.symbol("a_dtype_bytes"), "==", Expr.const(4)).text())
    lines = sorted(claim.lines, key=lambda one: one.line)
    spans = {one.line: _span(file, one) for one in lines}
    text = {name: claim.total(name).text() for name in ("flops", "pointwise_ops", "reads", "writes")}
    return Regime(
        name="default",
        context=ALONE,
        conditions=tuple(dict.fromkeys(conditions)),
        assumptions=(),
        parameters=tuple(sorted(claim.symbols())),
        flop_analysis=FlopAnalysis(
            flops=text["flops"],
            pointwise_ops=text["pointwise_ops"],
            lines=tuple(
                FlopLine(
                    line=one.line,
                    end_line=spans[one.line][0],
                    code=spans[one.line][1],
                    flops=one.flops,
                    pointwise_ops=one.pointwise_ops,
                    operations=judged.operations.get(one.line, ()),
                )
                for one in lines
            ),
            reasoning=claim.reasoning,
        ),
        memory_analysis=MemoryAnalysis(
            reads=text["reads"],
            writes=text["writes"],
            weights=claim.weights,
            boundary=claim.boundary,
            intermediates=claim.intermediates,
            peak=claim.peak,
            lines=tuple(
                MemoryLine(
                    line=one.line,
                    end_line=spans[one.line][0],
                    code=spans[one.line][1],
                    reads=one.reads,
                    writes=one.writes,
                )
                for one in lines
            ),
            reasoning=claim.reasoning,
        ),
        proof=Proof(
            verdict=verdict,
            device="cpu",
            dtype=", ".join(dict.fromkeys(judged.dtypes)),
            points=tuple(
                ProofPoint(sizes=p.sizes, predicted=p.predicted, measured=p.measured) for p in judged.points
            ),
            lines_checked=sum(p.lines for p in judged.points),
            judges=tuple(judges),
        ),
    )


def _span(file: str, one: ClaimedLine) -> tuple[int, str]:
    span = line_map(file).statement(one.line)
    return (span.end_line if span else one.line), line_map(file).code(one.line)


def _judges(judged: Judged) -> list[Judge]:
    """Torch's own counter, asked in the same float32 runs, where it knows every operation."""
    names = {name for found in judged.operations.values() for name in found}
    if not judged.counter or names & uncounted():
        return []
    agreed = [ours == theirs for ours, theirs in judged.counter]
    ours, theirs = next((pair for pair in judged.counter if pair[0] != pair[1]), judged.counter[0])
    asked = len(agreed)
    return [
        Judge(name=COUNTER, quantity="flops", agreed=sum(agreed), asked=asked, ours=ours, theirs=theirs)
    ]


def _parameters(claim: Claim, judged: Judged, names: Sequence[str]) -> list[Parameter]:
    """Every name, with the meaning that was claimed and where its value comes from."""
    meanings = {one.name: one.meaning for one in claim.names}
    counted = {one.name: one for one in claim.counted}
    found = []
    for name in names:
        if name in counted:
            seen = [point.sizes[name] for point in judged.points]
            source = f"data: how often line {counted[name].line} runs in one call; "
            source += f"{min(seen)} to {max(seen)} where it was measured"
            found.append(Parameter(name=name, meaning=counted[name].meaning, source=source))
        elif name in UNEQUAL:
            found.append(Parameter(name=name, meaning=_WIDTH_MEANING, source="number format"))
        else:
            found.append(Parameter(name=name, meaning=meanings.get(name, ""), source="size"))
    return found

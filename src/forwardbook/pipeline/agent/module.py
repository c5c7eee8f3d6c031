"""A class with lines that no engine settled in; formulas that a model proposed and runs confirmed out."""

from __future__ import annotations

import asyncio
import os
import re
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from pydantic import BaseModel, JsonValue

from forwardbook.agents.analyst import Answer, Failure, Task
from forwardbook.agents.choose import Chosen
from forwardbook.agents.flow import diagnostics, settle_all
from forwardbook.agents.requests import Preview
from forwardbook.agents.roles.module_analyst import ROLE, Question, task
from forwardbook.agents.served import lines_of
from forwardbook.analyzers.ops import RULES_VERSION
from forwardbook.analyzers.reader import Facts, SourceFile, Sources
from forwardbook.errors import ForwardbookError
from forwardbook.pipeline.agent.agreement import parting
from forwardbook.pipeline.analysis.attempt import Attempt
from forwardbook.pipeline.analysis.subject import Subject
from forwardbook.pipeline.child.job import Limits
from forwardbook.pipeline.child.known_words import KnownWords, known_words
from forwardbook.pipeline.child.process import run_child
from forwardbook.pipeline.child.request import Request, Response
from forwardbook.pipeline.child.response_entry import read_entry
from forwardbook.profiling.claim import Claim
from forwardbook.schema import Entry, Proposal

CHECK_SECONDS: Final = 120.0
_NAME: Final = re.compile(r"[A-Za-z_]\w{0,63}", re.ASCII)
_PROCESSES: Final = threading.BoundedSemaphore(min(os.cpu_count() or 1, 4))


@dataclass(frozen=True)
class Proposed:
    """What came of asking: an entry, or a failure with its diagnostics."""

    entry: Entry | None
    failure: Failure | None = None
    diagnostics: dict[str, JsonValue] | None = None


def look(request: Request, limits: Limits) -> Response:
    """The sizes of the class, from a child process."""
    return run_child(request, limits, "forwardbook.pipeline.analysis.claim_work:look")


def hold(request: Request, limits: Limits) -> Response:
    """What measuring says of a claim, from a child process; no more of them at once than processors."""
    with _PROCESSES:
        return run_child(request, limits, "forwardbook.pipeline.analysis.claim_work:work")


@dataclass
class Check:
    """Holds claims in child processes, at new sizes and data each time; keeps the last entry that held.

    Then against `derived`, what the engines said of the class.
    """

    request: Request
    limits: Limits
    derived: Entry | None = None
    known: KnownWords | None = None
    """Words that the analyst may read; by default those known of the request."""
    entry: Entry | None = None
    count: int = 0

    async def __call__(self, value: BaseModel) -> str:
        """Why a claim does not hold; empty where it does."""
        assert isinstance(value, Claim)
        self.known = self.known or known_words(self.request)
        return self.known.only(await self._doubt(value))

    async def _doubt(self, value: Claim) -> str:
        self.count += 1
        update = {"claim": value.model_dump(mode="json"), "seed": self.request.seed + 1000 * self.count}
        response = await asyncio.to_thread(hold, self.request.model_copy(update=update), self.limits)
        if response.problem is not None:
            return response.plainly(self.request.target)
        if response.entry is None:
            return str(response.diagnostics.get("reason") or "it does not hold")
        try:
            held = read_entry(response, self.request.target)
            assert held is not None
            parted = parting(value, held, self.derived)
        except (ForwardbookError, ValueError):
            return "what came back of measuring it is no entry of the class"
        if not parted:
            self.entry = held
        return parted


def propose(open_: Sequence[Attempt], chosen: Chosen, limits: Limits) -> list[Proposed]:
    """Ask the chosen analyst for formulas of all classes at once; only what runs confirm is an entry."""
    checks = [_check(one, limits) for one in open_]
    tasks = [_task(one, chosen, limits, check) for one, check in zip(open_, checks, strict=True)]
    asked = [one for one in tasks if isinstance(one, Task)]
    answers = iter(asyncio.run(settle_all(asked, chosen.analyst)))
    found: list[Proposed] = []
    for one, check in zip(tasks, checks, strict=True):
        if isinstance(one, Failure):
            found.append(Proposed(None, one, {"unresolved": one.detail, "kind": one.kind, "role": ROLE}))
            continue
        outcome = next(answers)
        if isinstance(outcome, Failure):
            found.append(Proposed(None, outcome, diagnostics(one, chosen.analyst.model, outcome)))
            continue
        assert check.entry is not None and isinstance(outcome.value, Claim)
        proposal = _proposal(one, outcome, outcome.value)
        found.append(Proposed(check.entry.model_copy(update={"proposal": proposal})))
    return found


def previewed(tried: Attempt, chosen: Chosen, limits: Limits) -> Preview:
    """The first request as it would be sent, and the most that it could cost; nothing is sent."""
    asked = _task(tried, chosen, limits, _check(tried, limits))
    if isinstance(asked, Failure):
        raise ForwardbookError(asked.detail)
    return chosen.preview(asked)


def _check(tried: Attempt, limits: Limits) -> Check:
    return Check(tried.request, replace(limits, seconds=min(limits.seconds, CHECK_SECONDS)), tried.entry)


def _task(tried: Attempt, chosen: Chosen, limits: Limits, check: Check) -> Task | Failure:
    wanted, request, candidate = tried.wanted, tried.request, tried.entry
    known = check.known = known_words(request)
    seen = look(request, limits)
    sizes = _sizes(seen, known)
    if sizes is None:
        told = known.only(seen.plainly(wanted.full_class_name))
        return Failure("unresolved", f"looking at {wanted.full_class_name}: {told}")
    meanings = {p.name: known.only(p.meaning) for p in candidate.parameters} if candidate is not None else {}
    question = Question(
        name=wanted.full_class_name,
        file=wanted.found.file.name,
        source=_source(wanted),
        sizes=sizes,
        meanings=meanings,
        inputs=", ".join(f"{n}={shape}" for n, shape in sorted(request.inputs.items()))
        or "by their defaults",
        unresolved=tuple(map(known.only, tried.points)),
        candidates="\n".join(map(known.only, _candidates(candidate))),
        texts=dict(_texts(wanted)),
        versions=f"rules {RULES_VERSION}",
    )
    return task(question, check, chosen.limits(ROLE))


def _sizes(seen: Response, known: KnownWords) -> dict[str, int] | None:
    """The sizes that a child tells of, None where it does not: names that are known, and whole numbers."""
    sizes = seen.diagnostics.get("sizes")
    if seen.problem is not None or not isinstance(sizes, dict):
        return None
    found = {
        name: hint
        for name, hint in sizes.items()
        if _NAME.fullmatch(name) and known.has(name) and isinstance(hint, int)
    }
    return found if len(found) == len(sizes) else None


def _source(wanted: Subject) -> str:
    """The numbered source of the class, with the forward() that it inherits where that is elsewhere."""
    facts = _facts(wanted)
    roots = [wanted.found.root]
    parts = [lines_of(Path(facts.file), roots, facts.span.line, facts.span.end_line)]
    forward = facts.forward
    inside = forward is not None and forward.file == facts.file and facts.span.contains(forward.span)
    if forward is not None and not inside:
        parts.append(f"inherited from {forward.module}, file {Path(forward.file).name}:")
        parts.append(lines_of(Path(forward.file), roots, forward.span.line, forward.span.end_line))
    return "\n".join(parts)


def _facts(wanted: Subject) -> Facts:
    from forwardbook.analyzers.reader import read_class

    return read_class(wanted.found.class_name, wanted.found.file, Sources([wanted.found.root]))


def _texts(wanted: Subject) -> Iterator[tuple[str, str]]:
    """Every class and function beside the class, in its own file: what it can call without an import."""
    import libcst as cst

    source: SourceFile = Sources([wanted.found.root]).load_path(wanted.found.file.resolve())
    for node in source.tree.body:
        if isinstance(node, cst.ClassDef | cst.FunctionDef) and node.name.value != wanted.found.class_name:
            span = source.span(node)
            text = lines_of(wanted.found.file, [wanted.found.root], span.line, span.end_line)
            yield node.name.value, text


def _candidates(candidate: Entry | None) -> Iterator[str]:
    for regime in candidate.regimes if candidate is not None else ():
        yield f"regime {regime.name}; assumes: {'; '.join(regime.assumptions) or 'nothing'}"
        moved = {one.line: one for one in regime.memory_analysis.lines}
        for line in regime.flop_analysis.lines:
            other = moved.get(line.line)
            bytes_ = f", reads {other.reads}, writes {other.writes}" if other is not None else ""
            yield f"  line {line.line}: flops {line.flops}, pointwise_ops {line.pointwise_ops}{bytes_}"
        for name in ("weights", "boundary", "intermediates", "peak"):
            yield f"  {name} {regime.formula(name)}"


def _proposal(asked: Task, answer: Answer, claim: Claim) -> Proposal:
    return Proposal(
        model=answer.model,
        prompt_version=asked.prompt.version,
        attempts=len(answer.attempts),
        requests=answer.spent.requests,
        input_tokens=answer.spent.tokens_in,
        output_tokens=answer.spent.output_tokens,
        usd=f"{answer.spent.usd:.6f}",
        counted={one.name: one.line for one in claim.counted},
    )

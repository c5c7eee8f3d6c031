"""Holds claimed formulas against real runs: at random sizes and data every total and line must be equal."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Final

import torch

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.reader import line_map
from forwardbook.analyzers.symbolic.recorder import Widths
from forwardbook.formula.sides import degree
from forwardbook.profiling.asked import hints_of
from forwardbook.profiling.claim import Claim
from forwardbook.profiling.claim_beyond import Beyond
from forwardbook.profiling.claim_judged import Judged, compare, held_by, meets, stated_by
from forwardbook.profiling.proof import UNEQUAL, widths_of
from forwardbook.profiling.raised import raised
from forwardbook.profiling.real import run_real
from forwardbook.profiling.sizes import draw

POINTS: Final = 3
TRIES: Final = 16
SCALES: Final = (1.0, 8.0, 0.1, 64.0)
LARGEST_HINT: Final = 48  # runs are real: sizes are drawn around this at most
HIGHEST: Final = 8  # power of one name: so many sizes tell such formulas apart
_DTYPES: Final = (torch.float32, torch.bfloat16)


def hold(recipe: Recipe, claim: Claim, seed: int, file: str) -> Judged:
    """The claim against at least three runs in float32, then in bfloat16 if the module can do that.

    Then at sizes that the claim and the code name: below, at and above each of their thresholds. A claim is
    refused where a rounded division, a minimum or a maximum of it was not seen to take more than one side.
    """
    judged = Judged(notes=hints_of(recipe))
    judged.reason = _unknown(claim, judged.notes) or _uncountable(claim, file) or _steep(claim)
    if judged.reason:
        return judged
    # what the points are follows from the claim as well: nobody can write one that is right at them alone
    secret = f"{seed} {claim.model_dump_json()}"
    for dtype in _DTYPES:
        problem = _measured(recipe, claim, secret, dtype, judged, file)
        if judged.differences:
            return judged
        if problem and dtype is torch.float32:
            judged.reason = problem
            return judged
    beyond = Beyond(recipe, claim, judged, secret)
    judged.reason = beyond.measured(file) or (not judged.differences and _still(claim, judged)) or ""
    if judged.unruled and not judged.reason:
        judged.reason = f"no rule states the cost of {', '.join(judged.unruled[:3])}"
    return judged


def _steep(claim: Claim) -> str:
    for name in sorted(claim.symbols()):
        if (highest := max(degree(formula, name) for _, _, formula in claim.formulas())) > HIGHEST:
            return f"{name} to the power of {highest}: at most {HIGHEST} can be told from measurements"
    return ""


def _unknown(claim: Claim, hints: Mapping[str, int]) -> str:
    known = {*hints, *UNEQUAL, *(one.name for one in claim.counted)}
    clash = sorted({one.name for one in claim.counted} & {*hints, *UNEQUAL})
    if clash:
        return f"{clash[0]} is the name of a size already: give what is counted another name"
    unknown = sorted(claim.symbols() - known)
    if unknown:
        return f"no size is called {', '.join(unknown)}; there are: {', '.join(sorted(known))}"
    return ""


def _uncountable(claim: Claim, file: str) -> str:
    for one in claim.counted:
        span = line_map(file).statement(one.line)
        if span is None or not span.line == span.end_line == one.line:
            return f"{one.name}: line {one.line} is no statement on one line, so its runs cannot be counted"
    return ""


def _measured(
    recipe: Recipe, claim: Claim, secret: str, dtype: torch.dtype, judged: Judged, file: str
) -> str:
    """Add points in one dtype; why there are too few, empty where there are enough."""
    rng = random.Random(f"{secret} {dtype}")
    hints = {name: min(hint, LARGEST_HINT) for name, hint in judged.notes.items()}
    stated = stated_by(recipe, claim)
    sizes_only = [c for c in stated if c.symbols() <= set(hints)]
    if any(hints[name] != judged.notes[name] for c in sizes_only for name in c.symbols()):
        hints = dict(judged.notes)
    problem = "no random sizes were found that satisfy all conditions"
    got = 0
    for attempt in range(TRIES):
        if got >= POINTS and (attempt >= 2 * POINTS or not _still(claim, judged)):
            return ""
        sizes = draw(hints, sizes_only, rng)
        if sizes is None:
            continue
        widths = UNEQUAL if dtype != torch.float32 and got == POINTS - 1 else widths_of(dtype)
        order = (widths["w_dtype_bytes"], widths["a_dtype_bytes"], widths["kv_dtype_bytes"])
        try:
            run = run_real(recipe, sizes, dtype, Widths(*order), SCALES[attempt % 4], rng.randrange(2**31))
        except Exception as error:  # noqa: BLE001 - the module's own refusal of these sizes, whatever it raises
            problem = f"the class raised {raised(error, [file])}"
            continue
        values = {**sizes, **widths, **{one.name: run.hits.get(one.line, 0) for one in claim.counted}}
        if not meets(stated, values):
            problem = "the conditions of the claim held at no point that was measured"
            continue
        got += 1
        judged.points.append(compare(claim, run, values))
        judged.dtypes.append(str(dtype).removeprefix("torch."))
        judged.operations |= run.operations
        judged.unruled = tuple(dict.fromkeys((*judged.unruled, *run.unruled)))
        if run.counted_flops is not None and dtype == torch.float32:
            judged.counter.append((run.totals["flops"], run.counted_flops))
        if judged.points[-1].differences and got >= 2:
            return ""
    return "" if got >= POINTS else problem


def _still(claim: Claim, judged: Judged) -> str:
    """Which name of the formulas had too few values at all points, though no condition says which."""
    for name in sorted(claim.symbols() - held_by(claim)):
        if name in UNEQUAL and set(judged.dtypes) == {"float32"}:
            continue  # the record says so
        highest = max(degree(formula, name) for _, _, formula in claim.formulas())
        values = len({point.sizes[name] for point in judged.points})
        if values < 2 and highest:
            return (
                f"{name} had one value at every point that was measured: state a condition, or leave it out"
            )
        if values <= highest:
            return f"{name} had {values} values: too few for its power of {highest}; state a condition"
    return ""

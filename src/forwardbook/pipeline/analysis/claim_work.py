"""What a child process does for a claim: run the class, hold the formulas against it, say what differs."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import JsonValue

from forwardbook.analyzers.instances.recipe import Recipe
from forwardbook.analyzers.instances.recipes import recipes_for
from forwardbook.pipeline.analysis.claim_entry import entry_of
from forwardbook.pipeline.child.request import Request, Response
from forwardbook.pipeline.child.work import facts_of, options_of
from forwardbook.profiling.asked import hints_of
from forwardbook.profiling.claim import Claim
from forwardbook.profiling.claim_judged import Judged
from forwardbook.profiling.claimed import hold
from forwardbook.profiling.proof import Difference, Point
from forwardbook.schema import PROVED

_SHOWN = 40  # numbers that differ, in one answer


def look(request: Request) -> Response:
    """The sizes that the class is built and called with."""
    sizes: dict[str, JsonValue] = {**hints_of(_recipe(request))}
    return Response(diagnostics={"sizes": sizes})


def work(request: Request) -> Response:
    """The entry of a claim that holds; else, in the diagnostics, the reason and every point."""
    facts = facts_of(request)
    claim = Claim.model_validate(request.claim)
    recipe = _recipe(request)
    judged = hold(recipe, claim, request.seed, facts.forward.file if facts.forward else facts.file)
    verdict = judged.verdict(claim)
    told: dict[str, JsonValue] = {"verdict": verdict, "reason": reason_of(judged), "points": _points(judged)}
    if verdict not in PROVED:
        return Response(diagnostics=told)
    library = request.target.partition(".")[0]
    entry = entry_of(facts, library, claim, judged, verdict).model_dump(mode="json")
    return Response(entry=entry, diagnostics=told)


def _recipe(request: Request) -> Recipe:
    return recipes_for(request.target, options_of(request))[0]


def reason_of(judged: Judged) -> str:
    """Why a claim does not hold, as whoever made it reads it; empty where it holds."""
    if not judged.differences:
        return judged.reason
    lines = []
    for point in judged.points:
        if point.differences:
            sizes = ", ".join(f"{name}={value}" for name, value in sorted(point.sizes.items()))
            lines.append(f"measured with {sizes}:")
            lines += [_said(one) for one in _ordered(point.differences)[:_SHOWN]]
    return "\n".join(lines[: 2 * _SHOWN])


def _ordered(differences: Sequence[Difference]) -> list[Difference]:
    """Lines before totals: a total differs because a line does."""
    return sorted(differences, key=lambda one: one.where == "total")


def _said(one: Difference) -> str:
    predicted = "undefined" if one.predicted is None else one.predicted
    return f"  {one.where}, {one.quantity}: predicted {predicted}, measured {one.measured}"


def _points(judged: Judged) -> list[JsonValue]:
    return [_point(point, dtype) for point, dtype in zip(judged.points, judged.dtypes, strict=True)]


def _point(point: Point, dtype: str) -> JsonValue:
    return {
        "dtype": dtype,
        "sizes": {**point.sizes},
        "predicted": {**point.predicted},
        "measured": {**point.measured},
        "differences": [
            {"quantity": d.quantity, "where": d.where, "predicted": d.predicted, "measured": d.measured}
            for d in point.differences
        ],
    }
